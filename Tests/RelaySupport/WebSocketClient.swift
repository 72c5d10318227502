import Foundation
package import HeliographAPI
import Relay
import Synchronization
import TestSupport

/// A WebSocket client that a test drives byte by byte. It can send what no browser would, and answers nothing on its
/// own.
package final class WebSocketClient: Sendable {
    package struct Frame: Sendable, Equatable {
        package var opcode: UInt8
        package var payload: [UInt8]

        package var text: String { String(decoding: payload, as: UTF8.self) }
        package var json: JSONValue { (try? JSONValue(parsing: payload)) ?? .null }
        /// The code of a Close; `nil` if it has none.
        package var closeCode: Int? { payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : nil }
    }

    package enum Opcode {
        package static let text: UInt8 = 1
        package static let binary: UInt8 = 2
        package static let close: UInt8 = 8
        package static let ping: UInt8 = 9
        package static let pong: UInt8 = 10
    }

    /// The head of the answer to the handshake, without the empty line.
    package let answer: String
    private let connection: ByteClient
    private let received: Mutex<[UInt8]>

    /// Connects and asks for the upgrade. ``answer`` shows whether it is granted.
    package init(
        port: Int,
        path: String,
        headers: [String: String] = [:]
    ) async throws {
        connection = try await ByteClient(port: port)
        var fields = [
            "Host": "127.0.0.1:\(port)", "Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13",
        ]
        for (name, value) in headers { fields[name] = value.isEmpty ? nil : value }
        let lines = fields.map { "\($0): \($1)\r\n" }.joined()
        try await connection.send(Array("GET \(path) HTTP/1.1\r\n\(lines)\r\n".utf8))
        var bytes: [UInt8] = []
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                answer = String(text[..<end.lowerBound])
                received = Mutex(Array(bytes.dropFirst(answer.utf8.count + 4)))
                return
            }
            guard let more = try await connection.next() else {
                throw NeverCame(description: "an answer to the handshake")
            }
            bytes += more
        }
    }

    package convenience init(_ relay: RunningRelay, session: UInt32, headers: [String: String] = [:]) async throws {
        try await self.init(port: relay.ports.http, path: "/screencapture/\(session)/ws", headers: headers)
    }

    package var wasUpgraded: Bool { answer.hasPrefix("HTTP/1.1 101 ") }

    /// Sends a frame as a client is to: masked.
    package func send(_ opcode: UInt8, _ payload: [UInt8], isLast: Bool = true) async throws {
        try await connection.send(Self.frame(first: (isLast ? 0x80 : 0) | opcode, payload))
    }

    package func send(_ message: String) async throws { try await send(Opcode.text, Array(message.utf8)) }

    package func send(bytes: [UInt8]) async throws { try await connection.send(bytes) }

    /// A masked frame.
    package static func frame(first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let mask: [UInt8] = [0x11, 0xA2, 0x33, 0xF4]
        var bytes = [first]
        switch payload.count {
        case ...125: bytes.append(0x80 | UInt8(payload.count))
        case ...0xFFFF: bytes += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: bytes += [0x80 | 127] + (0..<8).map { UInt8(payload.count >> (56 - 8 * $0) & 0xFF) }
        }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    /// Returns the next frame, or `nil` if the relay has closed the connection.
    package func next() async throws -> Frame? {
        while true {
            if let frame = received.withLock({ Self.take(&$0) }) { return frame }
            guard let more = try await connection.next() else { return nil }
            received.withLock { $0 += more }
        }
    }

    /// Returns the first result of `select` for the next frames. A server's frame that is masked or a fragment never
    /// matches.
    package func first<Value>(_ what: String, _ select: (Frame) -> Value?) async throws -> Value {
        while let frame = try await next() {
            if let value = select(frame) { return value }
        }
        throw NeverCame(description: "\(what) before the connection's end")
    }

    /// Returns the next event of that type.
    package func event(_ type: String) async throws -> JSONValue {
        try await first("the event \(type)") { frame in
            // JSONValue has a `nil` of its own.
            frame.opcode == Opcode.text && frame.json["type"] == .string(type) ? .some(frame.json) : .none
        }
    }

    /// Asks for control of the device until the viewer has it.
    ///
    /// - Parameter takes: Whether it takes the device from another controller at once.
    package func control(takes: Bool = false) async throws {
        try await send(Opcode.binary, [1, takes ? 2 : 1, 0, 0])
        try await first("control") { frame in
            frame.opcode == Opcode.text && frame.json["type"] == "control" && frame.json["mine"] == true ? () : nil
        }
    }

    /// Returns the code of the relay's Close, and answers it. Afterwards the relay must send nothing and close the
    /// connection.
    package func closeCode() async throws -> Int? {
        let code = try await first("Close") { $0.opcode == Opcode.close ? .some($0.closeCode) : nil }
        try? await send(Opcode.close, [0x03, 0xE8])
        while let frame = try await next() {
            throw NeverCame(description: "the end; behind Close came a frame of opcode \(frame.opcode)")
        }
        return code
    }

    /// Reads until the relay has closed the connection, and returns the last frame.
    package func lastFrame() async throws -> Frame? {
        var last: Frame?
        while let frame = try await next() { last = frame }
        return last
    }

    /// Returns the bytes up to and including the first `end`.
    package func read(until end: Character) async throws -> String {
        while true {
            let text = received.withLock { String(decoding: $0, as: UTF8.self) }
            if let place = text.firstIndex(of: end) { return String(text[...place]) }
            guard let more = try await connection.next() else { return text }
            received.withLock { $0 += more }
        }
    }

    package func close() async throws { try await connection.close() }

    /// Closes only the sending side.
    package func closeOutput() async throws { try await connection.closeOutput() }

    /// Reads nothing until ``startReading()``.
    package func pause() async throws { try await connection.pause() }

    package func startReading() async throws { try await connection.startReading() }

    /// Removes and returns the first frame of a server's bytes; returns `nil` if it is incomplete.
    package static func take(_ bytes: inout [UInt8]) -> Frame? {
        guard bytes.count >= 2 else { return nil }
        var (length, head) = (Int(bytes[1]), 2)
        if length == 126 { head = 4 }
        if length == 127 { head = 10 }
        guard bytes.count >= head else { return nil }
        if head > 2 { length = bytes[2..<head].reduce(0) { $0 << 8 | Int($1) } }
        guard bytes.count >= head + length else { return nil }
        let frame = Frame(opcode: bytes[0] & 0x8F ^ 0x80, payload: Array(bytes[head..<(head + length)]))
        bytes.removeFirst(head + length)
        return frame
    }
}
