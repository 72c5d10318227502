package import NIOCore

/// The last keyframe and all units since, for viewers that join while they may still begin there.
package struct GroupCache<Unit: Sendable>: Sendable {
    /// The limits on the cached group.
    package struct Limits: Sendable {
        /// Most bytes kept since the last keyframe. A group that exceeds them is dropped until the next keyframe.
        package var bytes = 8 << 20
        /// How old the last keyframe may be for a joiner to begin there.
        package var joinAge = TimeAmount.milliseconds(500)

        package init() {}
    }

    private let limits: Limits
    /// All units since the keyframe; empty if any of them is missing.
    package private(set) var units: [Unit] = []
    private var byteCount = 0
    private var keyframeArrived: NIODeadline?

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// Adds the unit that follows the last one. A keyframe begins a new group.
    package mutating func add(_ unit: Unit, isKey: Bool, byteCount: Int, now: NIODeadline) {
        if isKey {
            drop()
            keyframeArrived = now
        } else if units.isEmpty {
            return
        }
        // A viewer cannot join at an older keyframe.
        guard let keyframeArrived, now - keyframeArrived <= limits.joinAge,
            self.byteCount + byteCount <= limits.bytes
        else { return drop() }
        units.append(unit)
        self.byteCount += byteCount
    }

    /// Returns the units that a viewer joining now gets first; empty if it must wait for the next keyframe.
    package func join(now: NIODeadline) -> [Unit] {
        guard let keyframeArrived, now - keyframeArrived <= limits.joinAge else { return [] }
        return units
    }

    package mutating func drop() {
        units.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
