import Media
import Synchronization
import Wire

/// Forwards what a screencast delivers, and delivers a screenshot if its first frame does not come.
final class StaticScreenSink: FrameSink {
    private struct State {
        var hasFrame = false
        var isPaused = false
        var size: PictureSize?
    }

    /// Set when the screencast has delivered a frame.
    let firstFrame: Event
    /// Set when the screencast streams again after a pause.
    let resumed: Event
    private let sink: any FrameSink
    private let state = Mutex(State())

    init(_ sink: any FrameSink) throws(ResourceShortage) {
        (firstFrame, resumed) = (try Event(), try Event())
        self.sink = sink
    }

    /// The size that was negotiated with the screencast.
    var size: PictureSize? { state.withLock { $0.size } }

    /// Delivers a screenshot, unless the screencast has delivered a frame or has negotiated another size.
    func seed(_ frame: CapturedFrame) {
        state.withLock { state in
            guard !state.hasFrame, frame.description.size == state.size else { return }
            // Under the lock, because a newer frame could otherwise arrive first and be replaced by this one.
            sink.receive(frame)
        }
    }

    func receive(_ frame: CapturedFrame) {
        let isFirst = state.withLock { state in
            defer { state.hasFrame = true }
            return !state.hasFrame
        }
        if isFirst { firstFrame.set() }
        sink.receive(frame)
    }

    func pointerMoved(to place: SIMD2<Int>?) { sink.pointerMoved(to: place) }

    func outdated() { sink.outdated() }

    func skippedBuffer() { sink.skippedBuffer() }

    func copiedFrame() { sink.copiedFrame() }

    func sourceChanged(_ status: SourceStatus) {
        let isResumed = state.withLock { state in
            state.size = status.size ?? state.size
            defer { state.isPaused = status.state == .paused }
            return state.isPaused && status.state == .streaming
        }
        sink.sourceChanged(status)
        if isResumed { resumed.set() }
    }
}
