package import Wire

/// Where a source delivers. Called in the source's threads, frames in one of them and in order.
package protocol FrameSink: Sendable {
    /// Takes a frame. Does not block.
    func receive(_ frame: CapturedFrame)
    /// Says that the screen may show something else than the last frame by now: who joins waits for the next one.
    func outdated()
    /// Notes a buffer that came without a usable picture.
    func skippedBuffer()
    /// Notes a frame that had to be copied because too few buffers were free to lend one.
    func copiedFrame()
    /// Notes what became of the source.
    func sourceChanged(_ status: SourceStatus)
}

/// Something that delivers frames of a screen.
package protocol FrameSource: Sendable {
    /// The kind's name on the command line and in the status.
    var kind: String { get }

    /// Opens the source and delivers to `sink` until `stop` is set; throws when the source cannot be opened or is lost.
    func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError)
}

/// Why a source gave up. Each says what to do.
package enum SourceError: Error, Equatable {
    /// A service or program that the source needs is missing.
    case unavailable(cause: String, detail: String)
    /// The desktop said no.
    case refused(cause: String, detail: String)
    /// A person who was asked said no.
    case declined(cause: String, detail: String)
    /// Something did not answer in time.
    case timeout(cause: String, detail: String)
    /// The stream that was delivering has ended.
    case lost(cause: String, detail: String)

    /// A stable code.
    package var cause: String {
        switch self {
        case .unavailable(let cause, _), .refused(let cause, _), .declined(let cause, _), .timeout(let cause, _),
            .lost(let cause, _):
            cause
        }
    }

    /// What happened and what to do, for a person.
    package var detail: String {
        switch self {
        case .unavailable(_, let detail), .refused(_, let detail), .declined(_, let detail), .timeout(_, let detail),
            .lost(_, let detail):
            detail
        }
    }
}
