import Foundation
import TestSupport

/// Runs Examples/embed/server.mjs: a third-party page, and the relay under its path.
final class EmbeddingServer {
    /// The address of the page.
    let url: String
    private let process = Process()

    /// Starts it, and returns when it listens.
    ///
    /// - Parameter key: The API key that it shows the relay.
    init(relay: RelayProcess, key: String? = nil) throws {
        let output = Pipe()
        process.executableURL = Node.program
        process.arguments = [Programs.repository.appendingPathComponent("Examples/embed/server.mjs").path]
        process.environment = ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)", "PORT": "0"]
        if let key { process.environment?["HELIOGRAPH_KEY"] = key }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try Programs.start(process)
        url = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .newlines)
        guard url.hasPrefix("http") else { throw NeverCame(description: "the address of the page's server: \(url)") }
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
    }
}
