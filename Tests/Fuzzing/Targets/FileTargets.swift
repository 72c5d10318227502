import Access
import Foundation
import Relay

extension FuzzTarget {
    private static let settings = [
        "http: ", "agentLink: ", "devices:\n  ", "source:\n  kind: ", "tls: ", "maxSessions: ", "viewerMemory: ",
        "logLevel: ",
        "agentUsers: [", "environment: {", "&a", "*a", "<<: ", "!!str ", "- ", "? ", "| ", "{[", "\n---\n",
        "%YAML 1.2\n", ".inf",
        "\u{FEFF}", "\t",
    ]

    /// The configuration file.
    static let configuration = FuzzTarget("configuration", words: settings) { input in
        guard let text = String(validating: input, as: UTF8.self) else { return }
        do {
            let settings = try ConfigurationFile.settings(in: text, path: "file")
            try require(settings.over(RelaySettings()) == settings, "\(settings) over nothing is another")
        } catch let error as ConfigurationError {
            try require(!error.lines.isEmpty, "refused without a reason")
            let lineCount = text.unicodeScalars.count { "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0) } + 2
            for line in error.lines {
                let parts = line.split(separator: ":", maxSplits: 3)
                guard parts.count == 4, parts[0] == "file", let number = Int(parts[1]), let column = Int(parts[2])
                else {
                    throw Violation(description: "no place in \(line)")
                }
                try require(1...lineCount ~= number && column >= 1, "no such place: \(line)")
            }
        }
    }

    /// Settings from environment variables: `NAME=value`, separated by NUL.
    static let environment = FuzzTarget(
        "environment",
        words: settings + ["HELIOGRAPH_RELAY_", "MAX_SESSIONS=", "\u{0}"]
    ) {
        input in
        let variables = input.split(separator: 0).compactMap { line -> (String, String)? in
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2
                ? (String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self)) : nil
        }
        do {
            _ = try EnvironmentSettings.settings(in: Dictionary(variables) { $1 })
        } catch let error as ConfigurationError {
            try require(error.lines.allSatisfy { $0.hasPrefix("HELIOGRAPH_RELAY_") }, "\(error.lines)")
        }
    }

    /// The file of API keys.
    static let keys = FuzzTarget(
        "keys",
        words: [
            "{\"version\":1,\"keys\":[", "\"name\":", "\"role\":\"viewer\"", "\"sha256\":",
            "\"created\":\"2026-01-01T00:00:00Z\"",
        ]
    ) { input in
        try withFile(of: input) { path in
            let file = KeyFile(path: path)
            guard let read = try refusable({ try file.read() }), let ring = read else { return }
            try file.change { _ in }
            try require(try file.read() == ring, "\(ring) is not kept")
        }
    }

    /// The file of the relay's state.
    static let state = FuzzTarget(
        "state",
        words: [
            "{\"version\":1", "\"sessions\":[", "\"broadcasts\":[", "\"request\":{", "\"epoch\":", "\"created\":",
            "1e308",
        ]
    ) { input in
        try withFile(of: input) { path in
            let file = StateFile(path: path)
            guard let read = try refusable({ try file.read() }), let state = read else { return }
            try file.write(state)
            try require(try file.read() == state, "\(state) is not kept")
        }
    }

    /// Returns a file with these bytes, in memory, that no other user may read.
    private static func withFile(of bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let path = "\(folder)/heliograph-fuzz-\(UUID().uuidString)"
        guard
            FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
        else { throw Violation(description: "\(path) cannot be written") }
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }
}
