import HeliographAPI
import Media
import Wire

extension SourceRequest {
    /// The agent's arguments that say the same.
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
