import Glibc

/// SIGTERM, SIGINT and SIGHUP, taken by a thread that waits for nothing else.
enum TerminationSignals {
    /// Calls `body` in that thread at the first of the signals. Call it before other threads start: they inherit the mask.
    static func handle(_ body: @escaping @Sendable () -> Void) {
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Context(signals: signals, body: body))
        let result = pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                let context = Unmanaged<Context>.fromOpaque(argument).takeRetainedValue()
                var signals = context.signals
                var number: Int32 = 0
                sigwait(&signals, &number)
                context.body()
                return nil
            },
            context.toOpaque()
        )
        precondition(result == 0, "the system refuses a thread: \(String(cString: strerror(result)))")
        pthread_detach(thread)
    }

    private final class Context {
        let signals: sigset_t
        let body: @Sendable () -> Void

        init(signals: sigset_t, body: @escaping @Sendable () -> Void) {
            self.signals = signals
            self.body = body
        }
    }
}
