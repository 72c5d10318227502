/// A reader of an HTTP answer as it arrives.
struct AnswerReader {
    private enum Part {
        case head, chunkLine, chunkEnd, trailer, toEnd, done
        /// The bytes left in a body of known length, or in a chunk.
        case body(Int)
        case chunk(Int)
    }

    /// The longest head or chunk line, in bytes.
    private static let longestHead = 64 << 10

    private let isHead: Bool
    private var part = Part.head
    private var rest: [UInt8] = []
    /// The final answer's status, once its head has come.
    private(set) var status: Int?
    /// The final answer's head without its last line, in lower case.
    private(set) var head = ""

    /// - Parameter isHead: Whether it answers HEAD.
    init(isHead: Bool = false) { self.isHead = isHead }

    /// Whether the answer is complete.
    var isComplete: Bool {
        if case .done = part { true } else { false }
    }

    /// Whether it lasts until one side ends it: a stream or a WebSocket.
    var isStream: Bool { status == 101 || status == 200 && !head.contains("\r\ncontent-length:") }

    /// The bytes after the answer's end.
    mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return rest
    }

    /// Accepts the next bytes.
    ///
    /// - Returns: Those of them that belong to the body.
    mutating func take(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
        rest += bytes
        var body: [UInt8] = []
        while try step(&body) {}
        return body
    }

    /// - Returns: Whether there may be more to do.
    private mutating func step(_ body: inout [UInt8]) throws(Fault) -> Bool {
        switch part {
        case .done: return false
        case .head:
            guard let text = try line(ending: "\r\n\r\n") else { return false }
            try readHead(text)
        case .toEnd:
            body += rest
            rest = []
            return false
        case .body(let left):
            let count = take(atMost: left, into: &body)
            part = left == count ? .done : .body(left - count)
            return left == count
        case .chunk(let left):
            let count = take(atMost: left, into: &body)
            part = left == count ? .chunkEnd : .chunk(left - count)
            return left == count
        case .chunkLine:
            guard let text = try line(ending: "\r\n") else { return false }
            guard let size = Int(text, radix: 16), size >= 0 else { throw Fault("a chunk without a size", text) }
            part = size == 0 ? .trailer : .chunk(size)
        case .chunkEnd:
            guard let text = try line(ending: "\r\n") else { return false }
            try expect(text.isEmpty, "a chunk that is longer than it says", text)
            part = .chunkLine
        case .trailer:
            guard let text = try line(ending: "\r\n") else { return false }
            if text.isEmpty { part = .done }
        }
        return true
    }

    private mutating func take(atMost count: Int, into body: inout [UInt8]) -> Int {
        let count = min(count, rest.count)
        body += rest[..<count]
        rest.removeFirst(count)
        return count
    }

    private mutating func line(ending: String) throws(Fault) -> String? {
        guard let end = rest.firstRange(of: Array(ending.utf8)) else {
            try expect(rest.count <= Self.longestHead, "an answer's head without an end")
            return nil
        }
        let text = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        rest.removeFirst(end.upperBound)
        return text
    }

    private mutating func readHead(_ text: String) throws(Fault) {
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0] == "HTTP/1.1" || words[0] == "HTTP/1.0", let status = Int(words[1]) else {
            throw Fault("an answer that is not HTTP", text)
        }
        // Interim answers come before the final one.
        guard status == 101 || status >= 200 else { return }
        self.status = status
        head = text.lowercased()
        if isHead || status == 204 || status == 304 {
            part = .done
        } else if status == 101 {
            part = .toEnd
        } else if head.contains("\r\ntransfer-encoding: chunked") {
            part = .chunkLine
        } else if let length = field("content-length") {
            guard let count = Int(length) else { throw Fault("an answer without a length", length) }
            part = count == 0 ? .done : .body(count)
        } else {
            part = .toEnd
        }
    }

    /// A field's value.
    func field(_ name: String) -> String? {
        let line = head.split(separator: "\r\n").first { $0.hasPrefix("\(name):") }
        return line.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
    }
}
