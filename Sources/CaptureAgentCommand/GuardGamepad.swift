import ArgumentParser
import CaptureAgent
import Program
import Wire

/// The process that an agent starts to release its gamepad if the agent hangs.
struct GuardGamepad: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guard-gamepad",
        abstract: "Releases an agent's gamepad when the agent hangs.",
        shouldDisplay: false
    )

    @Argument(help: "The gamepad's type: xbox or dualsense.")
    var type: String

    func run() throws {
        CrashSignals.endProcess()
        guard let type = GamepadType(name: type) else { throw ValidationError("'\(type)' is not a gamepad's type.") }
        GamepadGuard.run(type)
    }
}
