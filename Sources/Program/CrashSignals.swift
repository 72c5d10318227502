import Glibc

/// The signals of a crash.
package enum CrashSignals {
    /// Makes a crash end the process at once.
    ///
    /// If the Swift toolchain is installed, its runtime stops a crashed thread for seconds or forever to print a
    /// backtrace. Meanwhile the process's other threads continue, and no new process can be started in its place.
    ///
    /// Set `SWIFT_BACKTRACE` to get the backtrace. Core dumps follow the system's settings.
    package static func endProcess() {
        guard getenv("SWIFT_BACKTRACE") == nil else { return }
        for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
    }
}
