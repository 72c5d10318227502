import CaptureAgent
import Glibc

/// Ends the process if the agent has been told to end and does not, because an encoder or a driver that it waits for
/// hangs.
enum EndingLimit {
    /// How long the agent may take to end, in seconds.
    private static let time: UInt32 = 5

    static func watch(_ agent: Agent) throws(ResourceShortage) {
        try WorkerThread(name: "ending-limit") {
            agent.waitForStop()
            sleep(time)
            _exit(EX_SOFTWARE)
        }.detach()
    }
}
