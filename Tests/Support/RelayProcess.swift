package import Foundation
import FoundationNetworking

/// A relay in a desktop, on ports of its own, driven over HTTP as a user does.
package final class RelayProcess: @unchecked Sendable {
    // Unchecked because nothing is written after the initialiser.

    package typealias Object = [String: any Sendable]

    package struct Refusal: Error {
        package var status: Int
        package var code: String
        package var detail: String
    }

    package let httpPort: Int
    package let agentPort: Int
    package let pid: Int32
    private let process: Process

    /// Starts a relay and waits until it listens.
    ///
    /// - Parameters:
    ///   - linkToken: The token for agents that are started by hand.
    ///   - fallback: What its standbys capture; `nil` for the relay's choice. Most tests are about one agent.
    ///   - environment: Variables for it and its agents besides the desktop's.
    package convenience init(
        in desktop: Desktop,
        arguments: [String] = [],
        linkToken: String? = nil,
        fallback: String? = "none",
        environment: [String: String] = [:]
    ) async throws {
        var arguments = arguments + (fallback.map { ["--fallback", $0] } ?? [])
        // The one that needs most of the desktop. The relay's own default may take screenshots instead.
        if !arguments.contains("--source"), !arguments.contains("--config") { arguments += ["--source", "portal"] }
        let portsFile = desktop.directory.appendingPathComponent("run/ports-\(UUID().uuidString).json")
        let process = desktop.process(
            "heliograph-relay",
            Self.portArguments(portsFile) + arguments,
            environment: environment.merging(linkToken.map { ["HELIOGRAPH_LINK_TOKEN": $0] } ?? [:]) { $1 }
        )
        try await self.init(process, portsFile: portsFile)
    }

    /// Starts a relay without a desktop, for agents that need none, and waits until it listens.
    ///
    /// - Parameters:
    ///   - linkToken: The token for agents that are started by hand.
    ///   - environment: Variables for it and its agents besides this process's.
    ///   - log: The destination of its standard error; `nil` for this process's.
    package convenience init(
        arguments: [String],
        linkToken: String? = nil,
        environment: [String: String] = [:],
        log: FileHandle? = nil
    ) async throws {
        let portsFile = FileManager.default.temporaryDirectory.appendingPathComponent("ports-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: portsFile) }
        let process = Process()
        process.executableURL = Programs.product("heliograph-relay")
        process.arguments = Self.portArguments(portsFile) + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            .merging(linkToken.map { ["HELIOGRAPH_LINK_TOKEN": $0] } ?? [:]) { $1 }
        process.standardInput = FileHandle.nullDevice
        if let log { process.standardError = log }
        try await self.init(process, portsFile: portsFile)
    }

    private static func portArguments(_ portsFile: URL) -> [String] {
        [
            "--http", "127.0.0.1:0", "--agent-link", "127.0.0.1:0", "--ports-file", portsFile.path,
            // Not the keys and the library of the user who runs the tests. The last --keys-file and --library count.
            "--keys-file", "none", "--library", "none",
        ]
    }

    private init(_ process: Process, portsFile: URL) async throws {
        self.process = process
        let starting = process
        try Programs.start(starting)
        let ports = try await eventually("the relay's ports") { () -> Object? in
            guard let data = try? Data(contentsOf: portsFile) else {
                if starting.isRunning { return nil }
                throw NeverCame(description: "the relay ended with status \(starting.terminationStatus)")
            }
            return try JSONSerialization.jsonObject(with: data) as? Object
        }
        httpPort = ports.integer("http")
        agentPort = ports.integer("agentLink")
        pid = Int32(ports.integer("pid"))
    }

    /// How it ended: its exit status, or the signal's number; `nil` while it runs.
    package var status: Int32? { process.isRunning ? nil : process.terminationStatus }

    /// How it ended, in words; `nil` while it runs.
    package var ending: String? {
        if process.isRunning { return nil }
        let isSignal = process.terminationReason == .uncaughtSignal
        return "\(isSignal ? "signal" : "exit status") \(process.terminationStatus)"
    }

    /// Asks the relay to end, like a service manager, and returns its exit status.
    @discardableResult
    package func terminate() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Ends the relay at once, and returns when it has ended.
    package func kill() {
        if process.isRunning { Glibc.kill(pid, SIGKILL) }
        process.waitUntilExit()
    }

    package func get(_ path: String) async throws -> Object {
        try await call("GET", path, nil)
    }

    @discardableResult
    package func post(_ path: String, _ body: Object = [:]) async throws -> Object {
        try await call("POST", path, body)
    }

    @discardableResult
    package func patch(_ path: String, _ body: Object) async throws -> Object {
        try await call("PATCH", path, body)
    }

    @discardableResult
    package func put(_ path: String, _ body: Object) async throws -> Object {
        try await call("PUT", path, body)
    }

    @discardableResult
    package func delete(_ path: String) async throws -> Object {
        try await call("DELETE", path, nil)
    }

    /// Returns the body of an answer that is not JSON.
    package func text(_ path: String) async throws -> String {
        let url = URL(string: "http://127.0.0.1:\(httpPort)\(path)")!
        return String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
    }

    /// Starts a session and returns its object.
    package func startSession(_ arguments: Object) async throws -> Object {
        try await post("/screencapture/start", arguments)
    }

    private func call(_ method: String, _ path: String, _ body: Object?) async throws -> Object {
        var request = URLRequest(url: URL(string: "http://127.0.0.1:\(httpPort)\(path)")!)
        request.httpMethod = method
        request.timeoutInterval = 60
        if let body { request.httpBody = try JSONSerialization.data(withJSONObject: body) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let answer = try JSONSerialization.jsonObject(with: data) as? Object ?? [:]
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200..<300).contains(status) else {
            throw Refusal(
                status: status,
                code: answer["code"] as? String ?? "",
                detail: answer["detail"] as? String ?? ""
            )
        }
        return answer
    }
}

extension [String: any Sendable] {
    /// A number of a JSON object, 0 when there is none.
    package func integer(_ key: String) -> Int { (self[key] as? NSNumber)?.intValue ?? 0 }

    package func string(_ key: String) -> String? { self[key] as? String }

    package func object(_ key: String) -> Self { self[key] as? Self ?? [:] }
}
