package import NIOCore

/// The last keyframe and all units since, for viewers that join, as long as they may begin there.
package struct GroupCache<Unit: Sendable>: Sendable {
    package struct Limits: Sendable {
        /// Most bytes kept since the last keyframe. Beyond them nothing is kept until the next one.
        package var bytes = 8 << 20
        /// How old the last keyframe may be for a joiner to begin there.
        package var joinAge = TimeAmount.milliseconds(500)

        package init() {}
    }

    private let limits: Limits
    /// All units since the keyframe; empty if they are not all there.
    package private(set) var units: [Unit] = []
    private var byteCount = 0
    private var keyframeArrived: NIODeadline?

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Keeps a unit that follows the one before it. A keyframe begins a group.
    package mutating func add(_ unit: Unit, isKey: Bool, byteCount: Int, now: NIODeadline) {
        if isKey {
            drop()
            keyframeArrived = now
        } else if units.isEmpty {
            return
        }
        // Nobody joins with a keyframe that is older.
        guard let keyframeArrived, now - keyframeArrived <= limits.joinAge,
            self.byteCount + byteCount <= limits.bytes
        else { return drop() }
        units.append(unit)
        self.byteCount += byteCount
    }

    /// What a viewer that joins now gets first; empty if it waits for the next keyframe.
    package func join(now: NIODeadline) -> [Unit] {
        guard let keyframeArrived, now - keyframeArrived <= limits.joinAge else { return [] }
        return units
    }

    package mutating func drop() {
        units.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
