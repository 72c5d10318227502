import Wire

/// What a monitor's screencast by xdg-desktop-portal-wlr 0.7 needs beside it: the first picture of a screen that is static, and another
/// screencast where this one was paused.
///
/// It sends a screen's picture unasked to the first screencast of its life only, and PipeWire may lose that one; every later one begins when
/// something on the screen changes. A screencast that is linked anew, because the session manager was started again, may find all its buffers
/// queued where nobody takes them: after one old picture nothing comes any more.
struct StaticScreen {
    /// How long a screencast that streams may take to its first frame, ns. sway's takes 10 to 35 ms.
    private static let patience: UInt64 = .milliseconds(100)
    /// How often the screen of a screencast without a frame is compared with what it showed, ns.
    private static let interval: UInt64 = .milliseconds(3_000)

    private static let outputUnknown = "output_unknown"

    private static let relinked = SourceError.lost(
        cause: "stream_linked_anew",
        detail: "The screen's stream was linked anew, and its portal may send nothing on that. It is opened anew."
    )

    private enum Look {
        case shot(Shot)
        /// The compositor would show its screens, but not this one.
        case unclear
    }

    let cursor: CursorDrawing
    let sink: StaticScreenSink

    /// Waits as `wait` does. Delivers a screenshot where the screencast, which streams, has no frame soon and the compositor copies its screen.
    /// From then on the screencast owes a frame only when its screen has changed.
    ///
    /// - Parameters:
    ///   - events: Any of them ends the wait.
    ///   - wait: Returns when one of the events is set or the deadline (monotonic ns; nil for none) has passed, and then false, or true when the desktop
    ///     has ended the screencast.
    func attend(
        _ stream: PipeWireStream,
        stop: Event,
        events: [Event],
        wait: ([Event], UInt64?) -> Bool
    ) throws(SourceError) -> Bool {
        let eventsOrFrame = events + [sink.firstFrame]
        if Event.wait(forAnyOf: eventsOrFrame, until: MonotonicClock.now + Self.patience) {
            return try stayLinked(stop: stop, events: events, wait: wait)
        }
        // On all other desktops a screencast without a frame is amiss.
        guard let look = lookAtScreen(stop: stop) else { return wait(events, nil) }
        stream.excuseFirstFrame()
        guard case .shot(let first) = look else { return wait(events, nil) }
        var shots = ChangedShots()
        if let frame = shots.frame(of: first) { sink.seed(frame) }
        var hasChanged = false
        while true {
            if wait(eventsOrFrame, MonotonicClock.now + Self.interval) { return true }
            if sink.firstFrame.isSet { return try stayLinked(stop: stop, events: events, wait: wait) }
            if events.contains(where: \.isSet) { return false }
            // What has changed is on its way for a moment.
            if hasChanged { throw PipeWireStream.noFrames }
            if case .shot(let shot) = lookAtScreen(stop: stop) { hasChanged = shots.frame(of: shot) != nil }
        }
    }

    /// Waits as `wait` does. Throws where the screencast goes on after a pause and the compositor copies its screens, so that the portal is that one.
    private func stayLinked(
        stop: Event,
        events: [Event],
        wait: ([Event], UInt64?) -> Bool
    ) throws(SourceError) -> Bool {
        if wait(events + [sink.resumed], nil) { return true }
        if events.contains(where: \.isSet) { return false }
        if lookAtScreen(stop: stop) != nil { throw Self.relinked }
        return wait(events, nil)
    }

    /// What the screen shows; nil where the compositor copies no screens.
    private func lookAtScreen(stop: Event) -> Look? {
        let backend: ScreencopyBackend
        do {
            backend = try openBackend()
        } catch {
            return error.cause == Self.outputUnknown ? .unclear : nil
        }
        defer { backend.close() }
        guard let shot = try? backend.take(stop: stop) else { return .unclear }
        return .shot(shot)
    }

    private func openBackend() throws(SourceError) -> ScreencopyBackend {
        try ScreencopyBackend(cursor: cursor) { outputs throws(SourceError) in
            // The portal does not name the monitor that was chosen. Its size does, or it is left alone: no other may be shown.
            let candidates = outputs.filter { $0.size == sink.size }
            guard candidates.count == 1 else {
                throw .unavailable(cause: Self.outputUnknown, detail: "\(candidates.count) monitors have the size.")
            }
            return candidates[0]
        }
    }
}
