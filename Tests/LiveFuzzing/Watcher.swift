import HeliographAPI
import Media
import Relay
import TestSupport

/// A viewer of one session that checks everything it gets.
final class Watcher {
    /// The allowed statuses of a viewer's answer besides a stream: the session is gone or full, nothing feeds it, or it
    /// took too long.
    private static let refusals: Set<Int> = [400, 404, 408, 409, 426, 503, 504]

    let viewing: Viewing
    let session: FuzzSession
    private var peer: Peer?
    /// The format; `nil` on the session's port.
    private var answer: AnswerReader?
    private var reader: any StreamReader
    private(set) var order: PictureOrder
    /// The first fault in what it got.
    private(set) var fault: Fault?
    /// All bytes of the stream; empty unless they are kept.
    private(set) var recording: [UInt8] = []
    private let records: Bool

    init(
        _ viewing: Viewing,
        of session: FuzzSession,
        ledger: UnitLedger,
        isStrict: Bool = false,
        records: Bool = false
    ) {
        (self.viewing, self.session, self.records) = (viewing, session, records)
        order = PictureOrder(session: session.id, codec: session.codec, ledger: ledger, isStrict: isStrict)
        switch viewing.format {
        case .port where session.framing == .scrcpy: reader = PacketReader()
        case .port, .bare: reader = ByteStreamReader(ledger: ledger)
        case .transportStream: reader = TransportReader()
        case .movie: reader = MovieReader()
        case .socket: reader = SocketReader(isMovie: false)
        case .socketMovie: reader = SocketReader(isMovie: true)
        case .snapshots: reader = MotionJPEGReader()
        case .snapshot, .wait: reader = BodyReader(isStatic: viewing.format == .snapshot)
        }
    }

    deinit { peer?.close() }

    /// Connects and asks for the stream.
    ///
    /// - Parameter isSmall: Whether the kernel keeps little for it.
    func join(httpPort: Int, on loop: Loop, isSmall: Bool = false) throws {
        let isOnPort = viewing.format == .port
        let port = isOnPort ? session.port : httpPort
        let peer = try Peer(port: port, isSmall: isSmall) { [weak self] in self?.take($0) }
        self.peer = peer
        loop.add(peer)
        if !isOnPort {
            answer = AnswerReader()
            peer.send(Array(request(port: httpPort).utf8))
        }
    }

    /// Whether it is still connected.
    var isOpen: Bool { peer?.isOpen ?? false }

    /// Whether the relay has said whether it may watch. A session's port does not say that.
    var isAnswered: Bool { answer.map { $0.status != nil } ?? true }

    var gapsTold: Int { reader.gapsTold }

    /// The recording up to the end of the last complete picture.
    var wholeRecording: ArraySlice<UInt8> { recording.prefix(reader.whole) }

    func read(_ reads: Bool) { peer?.reads = reads }

    func send(_ bytes: [UInt8]) { peer?.send(bytes) }

    func leave(_ ending: Ending = .close) {
        switch ending {
        case .close: peer?.close()
        case .reset: peer?.reset()
        case .half: peer?.closeOutput()
        }
    }

    private func request(port: Int) -> String {
        let path = "/screencapture/\(session.id)/"
        let query = ([viewing.join.map { "join=\($0)" }] + viewing.query).compactMap(\.self).joined(separator: "&")
        func head(_ name: String, _ query: String = query, fields: String = "") -> String {
            "GET \(path)\(name)\(query.isEmpty ? "" : "?\(query)") HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(fields)\r\n"
        }
        let upgrade = """
            Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n
            """
        switch viewing.format {
        case .port: return ""
        case .bare: return head("stream.\(session.codec.rawValue)")
        case .transportStream: return head("stream.ts")
        case .movie: return head("stream.mp4")
        case .snapshots: return head("stream.mjpeg", viewing.query.joined(separator: "&"))
        case .socket: return head("ws", fields: upgrade)
        case .socketMovie: return head("ws", "container=mp4\(query.isEmpty ? "" : "&")\(query)", fields: upgrade)
        case .snapshot: return head("snapshot.jpg", viewing.query.joined(separator: "&"))
        case .wait: return head("wait", viewing.query.joined(separator: "&"))
        }
    }

    private func take(_ bytes: [UInt8]) {
        guard fault == nil else { return }
        do throws(Fault) {
            try takeChecked(bytes)
        } catch {
            fault = Fault("\(error.kind), \(viewing.format)", error.detail)
        }
    }

    private func takeChecked(_ bytes: [UInt8]) throws(Fault) {
        let body = try answer?.take(bytes) ?? bytes
        if let status = answer?.status, status != 200, status != 101 {
            return try expect(Self.refusals.contains(status), "an answer that no viewer may get", "\(status)")
        }
        if records { recording += body }
        try reader.take(body) { picture throws(Fault) in try order.take(picture) }
        if var socket = reader as? SocketReader {
            let pongs = socket.takePongs()
            reader = socket
            if !pongs.isEmpty { peer?.send(pongs) }
        }
        guard answer?.isComplete == true else { return }
        // A stream that ends cleanly is complete. A bare stream does not show where its last picture ends.
        if viewing.format != .bare { try expect(reader.remainder == 0, "a stream that ends in a picture") }
    }
}
