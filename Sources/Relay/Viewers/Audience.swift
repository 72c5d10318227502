import NIOCore

/// The viewers of one session, and those who were.
@MediaLoop
final class Audience {
    private struct Member {
        let viewer: any Viewer
        var limit: ViewerLimit
    }

    /// How long a viewer may be behind; nil for ever.
    private let timeout: TimeAmount?
    private var members: [ObjectIdentifier: Member] = [:]
    /// The same in an array, to be gone through for each picture. Iterations see it as it was when they began, whoever leaves meanwhile.
    private(set) var viewers: [any Viewer] = []
    private var departed = DeliveryCounters()
    private(set) var admitted: UInt64 = 0
    /// Viewers whose connection the relay closed, by reason.
    private(set) var closed: [ViewerClosure: UInt64] = [:]

    init(timeout: TimeAmount?) { self.timeout = timeout }

    var delivered: DeliveryCounters { viewers.reduce(into: departed) { $0 += $1.queue.counters } }

    func add(_ viewer: any Viewer) {
        members[ObjectIdentifier(viewer)] = Member(viewer: viewer, limit: ViewerLimit(limit: timeout, now: .now()))
        viewers.append(viewer)
        admitted += 1
    }

    /// - Returns: Whether it was one.
    @discardableResult
    func remove(_ viewer: any Viewer) -> Bool {
        guard members.removeValue(forKey: ObjectIdentifier(viewer)) != nil else { return false }
        viewers.removeAll { $0 === viewer }
        departed += viewer.queue.counters
        return true
    }

    /// Those that have been behind for too long by `now`.
    func late(now: NIODeadline) -> [(viewer: any Viewer, reason: ViewerClosure)] {
        viewers.compactMap { viewer in
            members[ObjectIdentifier(viewer)]?.limit.check(viewer.progress, now: now).map { (viewer, $0) }
        }
    }

    /// Closes a viewer's connection, if it is one still.
    func close(_ viewer: any Viewer, because reason: ViewerClosure) -> Bool {
        guard remove(viewer) else { return false }
        closed[reason, default: 0] += 1
        viewer.close(because: reason)
        return true
    }
}
