import CaptureAgent
import Glibc

/// A handler for SIGTERM, SIGINT and SIGHUP, in a thread of its own.
enum TerminationSignals {
    /// Calls `body` in that thread at the first of the signals. Call it before other threads start, so that they
    /// inherit the mask.
    static func handle(_ body: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        // Never joined, because without a signal it waits until the process ends.
        _ = try WorkerThread(name: "signals") { [signals] in
            var signals = signals
            var number: Int32 = 0
            sigwait(&signals, &number)
            body()
        }
    }
}
