package import Wire

/// The receiver of what a source delivers. The source's threads call it. All frames come from one thread, in order.
package protocol FrameSink: Sendable {
    /// Takes a frame. Does not block.
    func receive(_ frame: CapturedFrame)
    /// Says which pixel of the frames the pointer is at, whether it is visible or not; `nil` if it is on no frame.
    func pointerMoved(to place: SIMD2<Int>?)
    /// Says that the screen may no longer show the last frame. New sessions then wait for the next frame.
    func outdated()
    /// Counts a buffer that came without a usable picture.
    func skippedBuffer()
    /// Counts a frame that had to be copied because too few buffers were free to lend one.
    func copiedFrame()
    /// Records the source's new status.
    func sourceChanged(_ status: SourceStatus)
}

/// A source that delivers the frames of a screen.
package protocol FrameSource: Sendable {
    /// The kind's name on the command line and in the status.
    var kind: String { get }

    /// Opens the source and delivers to `sink` until `stop` is set.
    ///
    /// - Throws: `SourceError` if the source cannot be opened or is lost.
    func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError)
}

/// The reason why a source gave up. Each one says what to do.
package enum SourceError: Error, Equatable {
    /// A service or program that the source needs is missing.
    case unavailable(cause: String, detail: String)
    /// The desktop denied access.
    case refused(cause: String, detail: String)
    /// A person denied access.
    case declined(cause: String, detail: String)
    /// A peer did not answer in time.
    case timeout(cause: String, detail: String)
    /// The stream ended after it had delivered frames.
    case lost(cause: String, detail: String)

    /// A stable code for programs.
    package var cause: String {
        switch self {
        case .unavailable(let cause, _), .refused(let cause, _), .declined(let cause, _), .timeout(let cause, _),
            .lost(let cause, _):
            cause
        }
    }

    /// A message for people: what happened and what to do.
    package var detail: String {
        switch self {
        case .unavailable(_, let detail), .refused(_, let detail), .declined(_, let detail), .timeout(_, let detail),
            .lost(_, let detail):
            detail
        }
    }
}
