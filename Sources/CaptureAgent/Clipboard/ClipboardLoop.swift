import Glibc
import Wire

/// The waiting that all backends have in common: while one waits, it serves programs that paste.
protocol ClipboardLoop: AnyObject {
    /// The descriptors whose readiness ``proceed()`` needs.
    var interests: [Poll.Interest] { get }
    /// When ``proceed()`` must be called at the latest, in monotonic ns; `nil` for no such time.
    var deadline: UInt64? { get }
    /// Handles what has happened, without waiting for other programs.
    func proceed() throws(ClipboardFailure)
}

/// How long another program may make no progress, and how long it may take in all, in ns.
enum ClipboardPatience {
    static let pause: UInt64 = .milliseconds(2_000)
    static let whole: UInt64 = .milliseconds(10_000)
}

extension ClipboardLoop {
    func serve(until events: [Event]) throws(ClipboardFailure) {
        _ = try wait(until: nil, stop: events) { false }
    }

    /// Waits until `isDone` returns `true` or one of `others` is ready.
    ///
    /// - Parameter deadline: In monotonic ns; `nil` for none.
    /// - Returns: `false` if an event of `stop` is set or the deadline is reached first.
    func wait(
        until deadline: UInt64?,
        orReady others: [Poll.Interest] = [],
        stop events: [Event],
        _ isDone: () -> Bool
    ) throws(ClipboardFailure) -> Bool {
        while true {
            try proceed()
            if isDone() { return true }
            let now = MonotonicClock.now
            if let deadline, now >= deadline { return false }
            let wake = [deadline, self.deadline].compactMap { $0 }.min()
            let ready = Poll.wait(
                for: others + events.map { Poll.Interest($0.descriptor) } + interests,
                timeout: wake.map { $0 > now ? $0 - now : 0 }
            )
            if ready.prefix(others.count).contains(true) { return true }
            if ready.dropFirst(others.count).prefix(events.count).contains(true) { return false }
        }
    }

    /// Waits for another program until `isDone` returns `true`.
    func waitForProgram(
        orReady others: [Poll.Interest] = [],
        stop: Event,
        _ isDone: () -> Bool
    ) throws(ClipboardFailure) {
        let deadline = MonotonicClock.now + ClipboardPatience.pause
        guard try wait(until: deadline, orReady: others, stop: [stop], isDone) else {
            throw stop.isSet ? .stopped : .silent
        }
    }

    /// Reads what another program writes into a pipe, and closes the pipe.
    ///
    /// - Parameter descriptor: The pipe's end, which must not block.
    func content(
        _ kind: ClipboardContent.Kind,
        from descriptor: Int32,
        stop: Event
    ) throws(ClipboardFailure) -> ClipboardContent {
        defer { Glibc.close(descriptor) }
        let output = CommandOutput(limit: kind.maximumByteCount + 1)
        let end = MonotonicClock.now + ClipboardPatience.whole
        while true {
            switch output.readAll(from: descriptor) {
            case .ended: return ClipboardContent(kind, Array(output.bytes))
            case .full: throw .tooLarge(kind)
            case .empty: break
            }
            guard MonotonicClock.now < end else { throw .silent }
            try waitForProgram(orReady: [Poll.Interest(descriptor)], stop: stop) { false }
        }
    }
}
