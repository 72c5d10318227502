import Foundation
import Media
import StreamOracle
import Synchronization
import TestSupport

/// A viewer that keeps everything it gets, in any way to watch a session.
final class RecordingViewer: Sendable {
    enum Way: String, CaseIterable, Sendable {
        case port, bare, transportStream, mp4, webSocket, webSocketMP4

        var isWebSocket: Bool { self == .webSocket || self == .webSocketMP4 }

        fileprivate func path(of session: WatchedSession) -> String {
            switch self {
            case .port: ""
            case .bare: "/screencapture/\(session.id)/stream.\(session.codec.rawValue)?"
            case .transportStream: "/screencapture/\(session.id)/stream.ts?"
            case .mp4: "/screencapture/\(session.id)/stream.mp4?"
            case .webSocket: "/screencapture/\(session.id)/ws?"
            case .webSocketMP4: "/screencapture/\(session.id)/ws?container=mp4&"
            }
        }
    }

    private struct State {
        /// On a WebSocket, its messages are in ``messages`` instead.
        var bytes: [UInt8] = []
        var messages: [WebSocketMessages.Message] = []
        var byteCount = 0
        var keyframesAgain = 0
        var faults: [String] = []
        var hasHungUp = false
        var isClosed = false
        /// Whether the relay said that it ends the connection.
        var wasToldOfEnd = false
    }

    let way: Way
    let session: WatchedSession
    let name: String
    private let connection: Connection
    private let state = Mutex(State())

    /// - Parameter join: `cache` or `live`; a session's port always goes by the session's own.
    init(_ way: Way, of session: WatchedSession, number: Int, join: String, httpPort: Int) throws {
        self.way = way
        self.session = session
        name = "viewer-\(number)-\(way)-of-session-\(session.id)"
        connection = try Connection(port: way == .port ? session.port : httpPort)
        if way != .port {
            var head = "GET \(way.path(of: session))join=\(join) HTTP/1.1\r\nHost: 127.0.0.1:\(httpPort)\r\n"
            if way.isWebSocket {
                head += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                head += "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            }
            connection.send(Array("\(head)\r\n".utf8))
        }
        Thread.detachNewThread { [self] in
            if way.isWebSocket { readFrames() } else { readBytes() }
            state.withLock { state in
                connection.close()
                state.isClosed = true
            }
        }
    }

    var byteCount: Int { state.withLock { $0.byteCount } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
    var isWatching: Bool { state.withLock { !$0.isClosed && !$0.hasHungUp } }
    /// Keyframes that were sent again without the encoder. Only on WebSockets.
    var keyframesAgain: Int { state.withLock { $0.keyframesAgain } }

    /// Ends the connection from this side.
    func hangUp() {
        state.withLock { state in
            state.hasHungUp = true
            if !state.isClosed { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Asks for a keyframe as a viewer on a WebSocket may.
    func askForKeyframe() {
        state.withLock { if !$0.isClosed { send(opcode: 1, Array(#"{"type":"keyframe"}"#.utf8)) } }
    }

    // MARK: - What it was sent

    /// Everything that it got.
    var recording: Recording {
        let state = state.withLock { $0 }
        var recording: Recording
        switch way {
        case .port where session.isPacketized:
            recording = Scrcpy.recording(of: state.bytes, isWhole: !state.hasHungUp)
        case .port:
            recording = BareStream.recording(of: state.bytes, codec: session.codec, isWhole: !state.hasHungUp)
        case .webSocket, .webSocketMP4:
            recording = WebSocketMessages.recording(
                of: state.messages,
                codec: session.codec,
                isMP4: way == .webSocketMP4
            )
            if !state.hasHungUp, !state.wasToldOfEnd { recording.faults.append("The relay ended it without a Close.") }
        case .bare, .transportStream, .mp4:
            recording = Self.recording(ofBody: HTTPBody(state.bytes), way, session.codec, state)
        }
        recording.faults = state.faults + recording.faults
        return recording
    }

    private static func recording(ofBody body: HTTPBody, _ way: Way, _ codec: Codec, _ state: State) -> Recording {
        var recording: Recording
        switch way {
        case .transportStream: recording = TransportPackets.recording(of: body.bytes, isWhole: body.isWhole)
        case .mp4: recording = Fragments.recording(of: body.bytes, isWhole: body.isWhole)
        default: recording = BareStream.recording(of: body.bytes, codec: codec, isWhole: body.isWhole)
        }
        // A session may end before the call is read.
        guard !state.bytes.isEmpty, body.status != 404 else { return Recording() }
        if body.status != 200 { recording.faults.append("It was answered with status \(body.status).") }
        if !state.hasHungUp, !body.isWhole { recording.faults.append("The relay cut its answer off.") }
        return recording
    }

    /// The bytes as they came, for people.
    var rawBytes: [UInt8] {
        state.withLock { state in
            guard way.isWebSocket else { return state.bytes }
            return state.messages.flatMap { message in
                switch message {
                case .text(let text): Array("\(text)\n".utf8)
                case .binary(let bytes): bytes
                }
            }
        }
    }

    // MARK: - Its thread

    private func readBytes() {
        while case let bytes = connection.read(upTo: 1 << 16, milliseconds: -1), !bytes.isEmpty {
            state.withLock { state in
                state.bytes += bytes
                state.byteCount += bytes.count
            }
        }
    }

    private func readFrames() {
        var head: [UInt8] = []
        while head.suffix(4) != [13, 10, 13, 10] {
            guard let byte = connection.read(exactly: 1) else { return state.withLock { $0.wasToldOfEnd = true } }
            head += byte
        }
        let status = HTTPBody(head).status
        guard status == 101 else {
            return state.withLock { state in
                state.wasToldOfEnd = true
                // A session may end before the call is read.
                if status != 404 { state.faults.append("It was answered with status \(status).") }
            }
        }
        while let frame = readFrame() {
            switch frame.opcode {
            case 1, 2: take(frame.payload, isText: frame.opcode == 1)
            case 8:
                state.withLock { $0.wasToldOfEnd = true }
                send(opcode: 8, Array(frame.payload.prefix(2)))
            case 9: send(opcode: 10, frame.payload)
            default: state.withLock { $0.faults.append("There is a frame of opcode \(frame.opcode).") }
            }
        }
    }

    private func readFrame() -> (opcode: UInt8, payload: [UInt8])? {
        guard let head = connection.read(exactly: 2) else { return nil }
        if head[0] & 0x80 == 0 || head[1] & 0x80 != 0 {
            state.withLock { $0.faults.append("There is a fragment, or a masked frame.") }
        }
        var length = Int(head[1] & 0x7F)
        if length >= 126 {
            guard let bytes = connection.read(exactly: length == 126 ? 2 : 8) else { return nil }
            length = bytes.reduce(0) { $0 << 8 | Int($1) }
        }
        return connection.read(exactly: length).map { (head[0] & 0x0F, $0) }
    }

    private func take(_ payload: [UInt8], isText: Bool) {
        state.withLock { state in
            state.messages.append(isText ? .text(String(decoding: payload, as: UTF8.self)) : .binary(payload))
            // A keyframe that was made without the encoder.
            let isAgain = !isText && payload.count > 1 && payload[0] == 2 && payload[1] & 5 == 5
            if isAgain { state.keyframesAgain += 1 }
            state.byteCount += isText ? 0 : payload.count
        }
    }

    /// Sends a masked frame; the mask is 0.
    private func send(opcode: UInt8, _ payload: [UInt8]) {
        connection.send([0x80 | opcode, 0x80 | UInt8(payload.count), 0, 0, 0, 0] + payload)
    }
}

/// A session as its viewers need to know it.
struct WatchedSession: Sendable {
    let id: Int
    let port: Int
    let codec: Codec
    /// Whether its port has scrcpy framing.
    let isPacketized: Bool
    /// Whether one viewer watches it from its beginning to its end.
    let hasWitness: Bool
}
