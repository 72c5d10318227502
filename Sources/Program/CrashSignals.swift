import Glibc

/// The signals of a crash.
package enum CrashSignals {
    /// Lets a crash end the process at once.
    ///
    /// Where the Swift toolchain is installed, its runtime would stop the crashed thread to have a backtrace printed, for seconds or for good.
    /// That is not for a process that another is to start again, and of which all that still runs would go on meanwhile. Who wants the backtrace
    /// sets `SWIFT_BACKTRACE`; core dumps are as the system has them.
    package static func endProcess() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }
}
