import Wire

/// Makes up for two defects of xdg-desktop-portal-wlr 0.7 in a monitor's screencast.
///
/// - The portal sends the picture of a static screen only to the first screencast of its life, and PipeWire may lose
///   that picture. Every later screencast starts when something on the screen changes, so a screenshot replaces its
///   first frame.
/// - A screencast that is linked again, because the session manager was restarted, may have all its buffers queued in
///   the wrong place. It then delivers one old picture and nothing more, so a new screencast replaces it after a pause.
struct StaticScreen {
    /// How long a streaming screencast may take to its first frame, in ns. sway's takes 10 to 35 ms.
    private static let patience: UInt64 = .milliseconds(100)
    /// How often the screen of a screencast without a frame is compared with its earlier content, in ns.
    private static let interval: UInt64 = .milliseconds(3_000)

    private static let outputUnknown = "output_unknown"

    private static let relinked = SourceError.lost(
        cause: "stream_linked_anew",
        detail: "The screen's stream was linked again, and its portal may send nothing on it. The agent reopens it."
    )

    private enum Look {
        case shot(Shot)
        /// The compositor copies screens, but it is unclear which one is captured.
        case unclear
    }

    let cursor: CursorDrawing
    let sink: StaticScreenSink

    /// Waits as `wait` does, and delivers a screenshot if the streaming screencast has no frame soon.
    ///
    /// This happens only if the compositor copies its screen. From then on the screencast owes a frame only when its
    /// screen has changed.
    ///
    /// - Parameters:
    ///   - events: Each of them ends the wait.
    ///   - wait: Returns `false` when one of the events is set or the deadline (monotonic ns; `nil` for none) has
    ///     passed, or `true` when the desktop has ended the screencast.
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
        // On all other desktops, a screencast without a frame is broken.
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
            // After a change the frame may take a moment to arrive.
            if hasChanged { throw PipeWireStream.noFrames }
            if case .shot(let shot) = lookAtScreen(stop: stop) { hasChanged = shots.frame(of: shot) != nil }
        }
    }

    /// Waits as `wait` does. Throws if the screencast resumes after a pause and the compositor copies its screens,
    /// which identifies this portal.
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

    /// Returns what the screen shows, or `nil` if the compositor does not copy screens.
    private func lookAtScreen(stop: Event) -> Look? {
        let backend: ScreencopyBackend
        do {
            backend = try openBackend()
        } catch {
            return error.cause == Self.outputUnknown ? .unclear : nil
        }
        defer { backend.close() }
        guard let shot = try? backend.take(.now, stop: stop) else { return .unclear }
        return .shot(shot)
    }

    private func openBackend() throws(SourceError) -> ScreencopyBackend {
        try ScreencopyBackend(cursor: cursor) { outputs throws(SourceError) in
            // The portal does not name the chosen monitor. It is identified by its size, and only if that is
            // unambiguous, because no other monitor may be shown.
            let candidates = outputs.filter { $0.size == sink.size }
            guard candidates.count == 1 else {
                throw .unavailable(cause: Self.outputUnknown, detail: "\(candidates.count) monitors have the size.")
            }
            return candidates[0]
        }
    }
}
