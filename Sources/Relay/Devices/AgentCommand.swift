import FoundationEssentials
import HeliographAPI
import Media
import NIOCore
import Subprocess
import SystemPackage
import Wire

/// The command that starts an agent.
struct AgentCommand: Sendable {
    /// The name of the agent's executable.
    private static let name = "capture-agent"

    var executable: Executable
    var arguments: [String]
    /// Variables that override the relay's own environment. They hold secrets, so they are never logged.
    var environment: [String: String]

    init(
        device: DeviceConfiguration,
        role: AgentRole,
        link: Endpoint,
        source: SourceRequest,
        configuration: RelayConfiguration
    ) {
        executable = device.agentExecutable.map { .path(FilePath($0)) } ?? Self.defaultExecutable()
        arguments = ["--relay", link.description, "--device", device.name] + source.agentArguments
        if role == .standby {
            arguments += ["--role", role.rawValue, "--slate-delay", "\(configuration.slateDelay.seconds)"]
        }
        if let directory = device.stateDirectory { arguments += ["--state-directory=\(directory)"] }
        if let timeout = device.consentTimeout { arguments += ["--consent-timeout", "\(timeout.seconds)"] }
        if device.input != .auto { arguments += ["--input", device.input.rawValue] }
        if device.sound != .off {
            arguments += ["--audio=\(device.sound)", "--audio-bitrate", "\(device.soundCoding.bitrate)"]
            arguments += ["--audio-packet", device.soundCoding.packet.rawValue]
        }
        if device.hasMicrophone { arguments.append("--microphone") }
        if source.kind == .screenshot, let command = device.screenshotCommand {
            if let timeout = device.screenshotTimeout { arguments += ["--command-timeout", "\(timeout.seconds)"] }
            // This option takes all remaining arguments.
            arguments += ["--command"] + command
        }
        environment = device.environment
        environment[LinkToken.environmentKey] = configuration.linkToken.value
    }

    /// Returns the agent beside this executable, where it is built and installed; if it is missing, the one in PATH.
    private static func defaultExecutable() -> Executable {
        let files = FileManager.default
        if let own = try? files.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            let sibling = FilePath(own).removingLastComponent().appending(name)
            if files.isExecutableFile(atPath: sibling.string) { return .path(sibling) }
        }
        return .name(name)
    }
}

extension SourceRequest {
    /// The equivalent arguments of the agent.
    var agentArguments: [String] {
        var arguments = ["--source", kind.rawValue]
        if let content { arguments += ["--content", content.rawValue] }
        if let cursor { arguments += ["--cursor", cursor.rawValue] }
        if let output { arguments += ["--output=\(output)"] }
        if let node { arguments += ["--node=\(node)"] }
        if let size { arguments += ["--size", size.description] }
        if let fps { arguments += ["--fps", String(fps)] }
        return arguments
    }
}
