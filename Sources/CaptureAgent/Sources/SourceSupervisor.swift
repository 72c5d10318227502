import Logging
import Wire

/// Runs a source in a thread of its own, and opens it again with growing pauses when it is lost.
final class SourceSupervisor: Sendable {
    private static let firstPause: UInt64 = .milliseconds(250)
    private static let longestPause: UInt64 = .milliseconds(5_000)
    /// A source that ran this long begins with the first pause again.
    private static let healthyRun: UInt64 = .milliseconds(10_000)

    private let stop = Event()
    private let thread: WorkerThread

    init(source: any FrameSource, rate: SourceRate, sink: any FrameSink, logger: Logger) {
        thread = WorkerThread(name: "source") { [stop] in
            var pause = Self.firstPause
            while !stop.isSet {
                let started = MonotonicClock.now
                sink.sourceChanged(SourceStatus(state: .opening))
                do throws(SourceError) {
                    try source.run(into: sink, rate: rate, stop: stop)
                } catch {
                    logger.warning(
                        "source \(source.kind) lost",
                        metadata: ["cause": "\(error.cause)", "detail": "\(error.detail)"]
                    )
                    sink.sourceChanged(SourceStatus(state: .lost, cause: error.cause, detail: error.detail))
                }
                if MonotonicClock.now - started > Self.healthyRun { pause = Self.firstPause }
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
