import Foundation
import HeliographAPI
import Relay
import TestSupport

/// A relay in a separate process, so that a trap ends the relay and not the fuzzer.
final class TestedRelay {
    /// The error for a relay that ended without being told to.
    struct Death: Error, CustomStringConvertible {
        let description: String
    }

    /// An answer of its API.
    struct Answer {
        var status: Int
        var body: [UInt8]

        var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    }

    /// How long an answer may take, in seconds. A healthy relay needs milliseconds.
    private static let patience = 20.0
    /// The source address of other callers, so that attackers do not take their places.
    static let caller: UInt32 = 0x7F00_00FA

    static let linkToken = "a-token-for-fuzzing"
    /// The device that is not attacked, and those that are.
    static let steadyDevice = "steady"
    static let devices = ["alpha", "beta"]

    private let process: RelayProcess
    private let log: FileHandle
    private let logFile: URL
    private let scratch: Scratch
    let loop: Loop

    /// - Parameter arguments: Arguments besides those of every relay.
    init(on loop: Loop, arguments: [String] = []) async throws {
        self.loop = loop
        scratch = try Scratch()
        let names = ([Self.steadyDevice] + Self.devices).map { "\"\($0)\": {}" }.joined(separator: ", ")
        let configuration = try scratch.write(Array("{\"devices\": {\(names)}}".utf8), to: "relay.yaml")
        logFile = try scratch.write([], to: "log")
        log = try FileHandle(forWritingTo: logFile)
        process = try await RelayProcess(
            arguments: [
                "--config", configuration.path, "--source", "test-pattern", "--fallback", "none", "--agent",
                "/bin/false",
                "--state-file", "none", "--session-port-base", "0", "--max-sessions", "100", "--log-level", "warning",
            ] + arguments,
            linkToken: Self.linkToken,
            log: log
        )
    }

    deinit { try? log.close() }

    var httpPort: Int { process.httpPort }
    var agentPort: Int { process.agentPort }

    /// Throws if the relay has ended.
    func expectAlive() throws(Death) {
        guard let ending = process.ending else { return }
        throw Death(description: "the relay ended with \(ending)\n\(lastLines())")
    }

    /// Ends the relay, even if it hangs.
    func end() { process.kill() }

    /// The relay's last messages, or a sanitizer's.
    private func lastLines() -> String {
        let text = (try? String(contentsOf: logFile, encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n")
        let report = lines.firstIndex { $0.contains("Sanitizer: ") }
        let shown = report.map { lines[$0...].prefix(40) } ?? lines.suffix(12)
        return shown.map { "    \($0.prefix(400))" }.joined(separator: "\n")
    }

    /// The relay's use of resources.
    func footprint() throws -> Footprint { try Footprint(of: process.pid) }

    /// Calls the API from a separate address while the loop continues.
    func call(_ method: String, _ path: String, _ body: String? = nil) throws -> Answer {
        var reader = AnswerReader(isHead: method == "HEAD")
        var (bytes, fault) = ([UInt8](), Fault?.none)
        let peer: Peer
        do {
            peer = try Peer(port: httpPort, from: Self.caller) { received in
                do throws(Fault) {
                    bytes += try reader.take(received)
                } catch {
                    fault = error
                }
            }
        } catch {
            // It refuses connections if it has just died.
            loop.run(atMost: 2) { process.ending != nil }
            try expectAlive()
            throw error
        }
        defer { peer.close() }
        loop.add(peer)
        let length = body.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
        peer.send(Array("\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(httpPort)\r\n\(length)\r\n\(body ?? "")".utf8))
        loop.run(atMost: Self.patience) { reader.isComplete || fault != nil || !peer.isOpen }
        if let fault { throw fault }
        guard reader.isComplete, let status = reader.status else {
            loop.run(atMost: 2) { process.ending != nil }
            try expectAlive()
            throw Fault(
                "a caller without an answer",
                "\(method) \(path): \(peer.isOpen ? "waited \(Self.patience) s" : "closed")"
            )
        }
        guard status != 500 else {
            throw Fault("an internal error", "\(method) \(path): \(String(decoding: bytes, as: UTF8.self))")
        }
        return Answer(status: status, body: bytes)
    }

    /// The number of connections that have a place now, without this call's own.
    func connections() throws -> Int {
        let text = String(decoding: try call("GET", "/metrics").body, as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("heliograph_connections ") }
        guard let count = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw Fault("metrics without connections")
        }
        return count - 1
    }
}
