import NIOPosix

/// A thread of its own for the tasks that decode a session's pictures.
///
/// Decoding takes milliseconds, and would keep other tasks waiting.
final class DecoderThread: TaskExecutor {
    private let pool = NIOThreadPool(numberOfThreads: 1)

    init() { pool.start() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        pool.submit { [self] _ in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Ends the thread, after the tasks that run on it.
    func stop() { pool.shutdownGracefully { _ in } }
}
