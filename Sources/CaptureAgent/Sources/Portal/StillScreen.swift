/// The first picture of a screen that stands still, for portals that send none.
///
/// xdg-desktop-portal-wlr 0.7 sends a screen's picture unasked to the first screencast of its life only; every later one begins when
/// something on the screen changes.
struct StillScreen {
    /// How long a screencast that streams may take to its first frame, ns. sway's takes 10 to 35 ms.
    private static let patience: UInt64 = .milliseconds(100)

    let cursor: CursorDrawing

    /// Delivers a screenshot to `sink` where its screencast, which streams, has no frame soon and the compositor copies its screen.
    /// Returns at once when one of `events` is set.
    func seed(_ sink: StillScreenSink, stop: Event, or events: [Event]) {
        let deadline = MonotonicClock.now + Self.patience
        if Event.wait(forAnyOf: events + [stop, sink.firstFrame], until: deadline) { return }
        // Without a picture a screencast is as good as it is with this portal, and on all other desktops nothing is amiss.
        guard let backend = try? openBackend(for: sink) else { return }
        defer { backend.close() }
        guard let shot = try? backend.take(stop: stop) else { return }
        sink.seed(CapturedFrame(shot.memory.share(), captured: shot.captured, orientation: shot.orientation))
    }

    private func openBackend(for sink: StillScreenSink) throws(SourceError) -> ScreencopyBackend {
        try ScreencopyBackend(cursor: cursor) { outputs throws(SourceError) in
            // The portal does not name the monitor that was chosen. Its size does, or it is left alone: no other may be shown.
            let candidates = outputs.filter { $0.size == sink.size }
            guard candidates.count == 1 else {
                throw .unavailable(cause: "output_unknown", detail: "\(candidates.count) monitors have the size.")
            }
            return candidates[0]
        }
    }
}
