import CaptureAgent
import Glibc

/// Ends the process where the agent does not end by itself once it is to: what it waits for, an encoder or a driver, may hang.
enum EndingLimit {
    /// How long the agent may take, s.
    private static let time: UInt32 = 5

    static func watch(_ agent: Agent) throws(ResourceShortage) {
        try WorkerThread(name: "ending-limit") {
            agent.waitForStop()
            sleep(time)
            _exit(EX_SOFTWARE)
        }.detach()
    }
}
