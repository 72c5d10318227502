import NIOCore

/// The units of a track that wait for the program: bounded, so that a slow program gets the newest ones.
///
/// If pictures do not fit, all that wait are left out, and all that come until the program wants one; then the next
/// keyframe is the first. Of sound, the oldest packets are left out.
package struct UnitQueue: MailQueue {
    /// The most units: about 4 s of pictures, or 5 s of sound.
    package static let mostUnits = 256
    /// The most bytes, unless one unit is larger.
    package static let mostBytes = 64 << 20

    /// What becomes of pictures.
    private enum Intake {
        /// They wait.
        case open
        /// They are left out until a keyframe comes.
        case starving
        /// They are left out until the program wants one.
        case closed
    }

    private var units = CircularBuffer<MediaUnit>()
    private var bytes = 0
    private var intake = Intake.open
    /// The units left out before the first one, and after the last one.
    private var (droppedBefore, droppedAfter) = (0, 0)
    /// The units left out in all.
    package private(set) var dropped = 0

    package init() {}

    package var isEmpty: Bool { units.isEmpty }

    /// Notes units that the relay has left out.
    package mutating func miss(_ count: Int) {
        droppedAfter &+= count
        dropped &+= count
    }

    /// Notes that the program wants a unit.
    ///
    /// - Returns: Whether a keyframe must be asked for.
    package mutating func want() -> Bool {
        guard intake == .closed else { return false }
        intake = .starving
        return true
    }

    /// Takes a unit in.
    package mutating func append(_ unit: MediaUnit) {
        guard case .picture = unit.content else {
            while isFull(with: unit) { dropFirst() }
            return insert(unit)
        }
        if isFull(with: unit) {
            intake = .closed
            while !units.isEmpty { dropFirst() }
        }
        if intake == .starving, unit.isKeyframe { intake = .open }
        if intake == .open { insert(unit) } else { miss(1) }
    }

    /// Takes the oldest unit out.
    package mutating func take() -> MediaUnit? {
        guard var unit = units.popFirst() else { return nil }
        bytes -= unit.bytes.count
        unit.dropped &+= droppedBefore
        droppedBefore = 0
        return unit
    }

    private func isFull(with unit: MediaUnit) -> Bool {
        !units.isEmpty && (units.count >= Self.mostUnits || bytes + unit.bytes.count > Self.mostBytes)
    }

    private mutating func insert(_ unit: MediaUnit) {
        var unit = unit
        unit.dropped = droppedAfter
        droppedAfter = 0
        bytes += unit.bytes.count
        units.append(unit)
    }

    /// Leaves the oldest unit out. The one after it says so.
    private mutating func dropFirst() {
        guard let unit = take() else { return }
        droppedBefore = unit.dropped &+ 1
        dropped &+= 1
    }
}
