import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport

/// A reader of what a WebSocket sends after its handshake: events and pictures in order (docs/reference/websocket.md).
struct SocketReader: StreamReader {
    private static let headSize = 36

    private let isMovie: Bool
    private var buffer: [UInt8] = []
    private var movie = MovieReader()
    private var frames = 0
    private var isConfigured = false
    private var awaitsKeyframe = false
    private var isClosed = false
    private(set) var gapsTold = 0
    /// The payloads of pings that have not been answered yet.
    private var pings: [[UInt8]] = []

    init(isMovie: Bool) { self.isMovie = isMovie }

    var remainder: Int { buffer.count }

    /// The received answers to pings.
    mutating func takePongs() -> [UInt8] {
        defer { pings = [] }
        return pings.flatMap { WebSocketClient.frame(first: 0x8A, $0) }
    }

    mutating func take(_ bytes: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        buffer += bytes
        while let frame = WebSocketClient.take(&buffer) {
            try expect(!isClosed, "a frame behind Close", "\(frame.opcode)")
            frames += 1
            switch frame.opcode {
            case WebSocketClient.Opcode.text: try take(event: frame)
            case WebSocketClient.Opcode.binary: try take(message: frame.payload, see)
            case WebSocketClient.Opcode.close: isClosed = true
            case WebSocketClient.Opcode.ping: pings.append(frame.payload)
            case WebSocketClient.Opcode.pong: break
            default: throw Fault("a frame that no server sends", "opcode \(frame.opcode)")
            }
        }
    }

    private mutating func take(event: WebSocketClient.Frame) throws(Fault) {
        guard let type = event.json["type"]?.string else { throw Fault("an event without a type", event.text) }
        try expect(frames > 1 || type == "hello", "a WebSocket that does not begin with hello", type)
        if type == "resync" {
            gapsTold += 1
            awaitsKeyframe = true
        }
    }

    private mutating func take(message: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        if message.first == 1 {
            guard message.count >= 14 else { throw Fault("a configuration that is cut off") }
            let codecEnd = 14 + Int(message[12]) << 8 + Int(message[13])
            guard message.count >= codecEnd else { throw Fault("a configuration that is cut off") }
            isConfigured = true
            guard isMovie else { return }
            // Each configuration brings another initialization segment; the fragments continue.
            var beginning = MovieReader()
            try beginning.take(Array(message[codecEnd...])) { _ throws(Fault) in throw Fault("a picture in a beginning")
            }
            try expect(beginning.remainder == 0, "a beginning that is cut off")
            movie.begin()
            return
        }
        try expect(message.first == 2 && message.count > Self.headSize, "a message of no type", "\(message.prefix(4))")
        let isKey = message[1] & 1 == 1
        try expect(!awaitsKeyframe || isKey, "an announced gap without a keyframe after it")
        awaitsKeyframe = false
        let time = Int64(bitPattern: message[4..<12].number)
        let payload = Array(message[Self.headSize...])
        guard isMovie else { return try see(SeenPicture(bytes: payload, isKey: isKey, time: time)) }
        try expect(isConfigured, "a picture without a configuration")
        var pictures: [SeenPicture] = []
        try movie.take(payload) { picture throws(Fault) in pictures.append(picture) }
        try expect(pictures.count == 1 && movie.remainder == 0, "a message that is not one fragment")
        try expect(pictures[0].time == time, "a fragment at another time than its message says")
        try see(pictures[0])
    }
}
