import Synchronization

/// The end of a PipeWire stream: an event, and why the stream cannot deliver any more.
final class StreamEnding: Sendable {
    /// Set at the end.
    let event: Event
    private let cause = Mutex<SourceError?>(nil)

    init() throws(SourceError) {
        event = try SourceError.explainingShortage { () throws(ResourceShortage) in try Event() }
    }

    var isOver: Bool { event.isSet }

    /// Why the stream ended; `nil` before.
    var error: SourceError? { cause.withLock { $0 } }

    /// Ends the stream. Of several ends, the first one counts.
    func end(because error: SourceError) {
        cause.withLock { cause in
            if cause == nil { cause = error }
        }
        event.set()
    }
}
