import Glibc

/// The signals of a crash.
enum CrashSignals {
    /// Lets a crash end the process at once.
    ///
    /// Where the Swift toolchain is installed, its runtime would stop the crashed thread to have a backtrace printed, for seconds or for good.
    /// That is not for the agent: the relay that is to start another waits for its end, and what of the agent still runs goes on sending. Who wants the backtrace sets `SWIFT_BACKTRACE`; core dumps are as the system has them.
    static func endProcess() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }
}
