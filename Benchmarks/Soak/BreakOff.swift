import Dispatch
import Foundation

/// Ends a run that is told to end or that hangs. The desktop and everything in it end with this process.
enum BreakOff {
    /// Calls `last` and exits with status 2 at SIGINT, at SIGTERM, or after the limit.
    ///
    /// - Returns: An object that watches for the signals as long as it lives.
    static func watch(seconds: Double, last: @escaping @Sendable (String) -> Void) -> [any DispatchSourceSignal] {
        let queue = DispatchQueue(label: "break-off")
        let end: @Sendable (String) -> Void = { why in
            tell("broken off: \(why)")
            last(why)
            exit(2)
        }
        queue.asyncAfter(deadline: .now() + seconds) { end("it hangs") }
        return [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { end("signal \(number)") }
            source.resume()
            return source
        }
    }
}
