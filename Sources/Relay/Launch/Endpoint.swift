import FoundationEssentials
import HeliographAPI
import Program

/// A host and port to listen on.
package struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    package var host: String
    /// The port; 0 lets the system choose.
    package var port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses `HOST:PORT` or `[IPv6]:PORT`. Returns `nil` for other text, or if the port is above 65535.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count > 1, let port = parts.last.flatMap({ UInt16($0, radix: 10) }) else { return nil }
        var host = parts.dropLast().joined(separator: ":")
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, !host.contains(where: { "[]".contains($0) }) else { return nil }
        self.init(host: host, port: Int(clamping: port))
    }

    package var description: String { Authority.text(host, port) }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool { Self.isLoopback(host: host) }

    package static func isLoopback(host: String) -> Bool {
        if host.lowercased() == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.first == "127" && parts.allSatisfy { UInt8($0, radix: 10) != nil }
    }
}

/// The ports of a running relay.
package struct RelayPorts: Sendable, Equatable {
    package var http: Int
    package var agentLink: Int

    /// The ports and this process's id, for scripts.
    package var json: String {
        let pid = ProcessInfo.processInfo.processIdentifier
        let json: JSONValue = ["http": .integer(http), "agentLink": .integer(agentLink), "pid": JSONValue(pid)]
        return json.text
    }

    /// Writes ``json`` in one step: a reader finds no file or a complete one.
    func write(to path: String) throws(RelayStartError) {
        do {
            try Data((json + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw .portsFileUnwritable(path: path, reason: "\(error)")
        }
    }
}
