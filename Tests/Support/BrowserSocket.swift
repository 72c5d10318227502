import Foundation

/// A WebSocket to a browser on this machine, for one text message at a time. It blocks.
struct BrowserSocket {
    private static let continuation: UInt8 = 0
    private static let text: UInt8 = 1
    private static let isLast: UInt8 = 0x80
    private static let isMasked: UInt8 = 0x80
    /// Firefox closes a connection whose frames have a mask of zeros.
    private static let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]

    private let connection: Connection
    private var received: [UInt8] = []

    /// Connects and asks for the upgrade.
    init(port: Int, path: String, before deadline: Date) throws {
        connection = try Connection(port: port)
        let request = """
            GET \(path) HTTP/1.1\r
            Host: 127.0.0.1:\(port)\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: \(Data(repeating: 7, count: 16).base64EncodedString())\r
            Sec-WebSocket-Version: 13\r
            \r

            """
        connection.send(Array(request.utf8))
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try read(1, before: deadline) }
        let answer = String(decoding: head, as: UTF8.self)
        guard answer.hasPrefix("HTTP/1.1 101 ") else {
            connection.close()
            throw BrowserFailure(description: "the browser refuses a WebSocket: \(answer)")
        }
    }

    func close() { connection.close() }

    func send(_ message: Data) {
        var frame = [Self.text | Self.isLast]
        switch message.count {
        case ..<126: frame.append(Self.isMasked | UInt8(message.count))
        case ..<65_536: frame += [Self.isMasked | 126] + Self.bigEndian(message.count, bytes: 2)
        default: frame += [Self.isMasked | 127] + Self.bigEndian(message.count, bytes: 8)
        }
        frame += Self.mask
        frame += message.enumerated().map { index, byte in byte ^ Self.mask[index % 4] }
        connection.send(frame)
    }

    /// Returns the next text message.
    mutating func next(before deadline: Date) throws -> Data {
        var message = Data()
        while true {
            let head = try read(2, before: deadline)
            var length = Int(head[1])
            if length == 126 { length = Self.number(try read(2, before: deadline)) }
            if length == 127 { length = Self.number(try read(8, before: deadline)) }
            let payload = try read(length, before: deadline)
            let opcode = head[0] & 0x0F
            // A ping or a pong may come between the parts of a message.
            guard opcode == Self.text || opcode == Self.continuation else { continue }
            message += payload
            if head[0] & Self.isLast != 0 { return message }
        }
    }

    private mutating func read(_ count: Int, before deadline: Date) throws -> [UInt8] {
        while received.count < count {
            let bytes = connection.read(upTo: 1 << 16, milliseconds: 100)
            received += bytes
            if bytes.isEmpty && !connection.isOpen {
                throw BrowserFailure(description: "the browser has closed its connection")
            }
            if received.count < count && Date() > deadline {
                throw BrowserFailure(description: "the browser does not answer")
            }
        }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    private static func number(_ bytes: [UInt8]) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }

    private static func bigEndian(_ number: Int, bytes: Int) -> [UInt8] {
        (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
