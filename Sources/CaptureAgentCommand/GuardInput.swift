import ArgumentParser
import CaptureAgent
import Program

/// The process that an agent starts to release keys and buttons if the agent is killed.
struct GuardInput: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guard-input",
        abstract: "Releases what an agent holds down when the agent dies.",
        shouldDisplay: false
    )

    @Flag(help: "End an agent that hangs while it holds something.")
    var endsAgent = false

    @Option(help: "The Mutter session whose fingers to lift, by the connection that is descriptor 3.")
    var mutterSession: String?

    func run() {
        CrashSignals.endProcess()
        GuardCommand.run(endsAgent: endsAgent, mutterSession: mutterSession)
    }
}
