import FoundationEssentials

/// Where a running relay listens.
package struct RelayPorts: Sendable, Equatable {
    package var http: Int
    package var agentLink: Int

    /// The ports and this process's id, for scripts.
    package var json: String {
        let pid = ProcessInfo.processInfo.processIdentifier
        let json: JSONValue = ["http": .integer(http), "agentLink": .integer(agentLink), "pid": JSONValue(pid)]
        return json.text
    }

    /// Writes ``json``, all at once: a reader finds no file or a whole one.
    func write(to path: String) throws(RelayStartError) {
        do {
            try Data((json + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw .portsFileUnwritable(path: path, reason: "\(error)")
        }
    }
}
