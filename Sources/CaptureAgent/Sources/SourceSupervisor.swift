import Logging
import Wire

/// Runs a source in its own thread. When the source is lost, it is opened again after growing pauses.
final class SourceSupervisor: Sendable {
    private static let firstPause: UInt64 = .milliseconds(250)
    private static let longestPause: UInt64 = .milliseconds(2_000)
    /// A person who has just closed a dialog does not want the next one soon.
    private static let pauseAfterNo: UInt64 = .milliseconds(60_000)

    private let stop: Event
    private let thread: WorkerThread

    init(
        source: any FrameSource,
        demand: SourceDemand,
        sink: any FrameSink,
        logger: Logger
    ) throws(ResourceShortage) {
        let stop = try Event()
        self.stop = stop
        thread = try WorkerThread(name: "source") {
            var pause = Self.firstPause
            var lastError: SourceError?
            while !stop.isSet {
                sink.sourceChanged(SourceStatus(state: .opening))
                do throws(SourceError) {
                    try source.run(into: sink, demand: demand, stop: stop)
                } catch {
                    // The same error at every attempt is logged once.
                    logger.log(
                        level: error == lastError ? .debug : .warning,
                        "source \(source.kind) lost",
                        metadata: ["cause": "\(error.cause)", "detail": "\(error.detail)"]
                    )
                    lastError = error
                    // A source that has delivered usually comes back soon; one that cannot be opened may take longer.
                    if case .lost = error { (pause, lastError) = (Self.firstPause, nil) }
                    if case .declined = error { pause = Self.pauseAfterNo }
                    sink.sourceChanged(SourceStatus(state: .lost, cause: error.cause, detail: error.detail))
                }
                if stop.wait(until: MonotonicClock.now + pause) { return }
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    /// Ends the source and waits for its thread.
    func shutDown() {
        stop.set()
        thread.join()
    }
}
