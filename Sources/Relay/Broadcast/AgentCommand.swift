import FoundationEssentials
import Media
import Subprocess
import SystemPackage

/// How an agent is started.
struct AgentCommand: Sendable {
    /// Name of the agent's executable.
    private static let name = "capture-agent"

    var executable: Executable
    var arguments: [String]
    var token: LinkToken

    init(configured: String?, link: Endpoint, device: String, source: SourceRequest, token: LinkToken) {
        executable = configured.map { .path(FilePath($0)) } ?? Self.defaultExecutable()
        arguments = ["--relay", link.description, "--device", device] + source.agentArguments
        self.token = token
    }

    /// The agent beside this executable, as both are built and installed together; else the one in PATH.
    private static func defaultExecutable() -> Executable {
        let files = FileManager.default
        if let own = try? files.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            let sibling = FilePath(own).removingLastComponent().appending(name)
            if files.isExecutableFile(atPath: sibling.string) { return .path(sibling) }
        }
        return .name(name)
    }
}
