import Fuzzing
import RelayTestSupport
import TestSupport

/// The actions of one hostile connection.
struct Attack {
    /// What follows the bytes.
    enum Ending: CaseIterable {
        /// Nothing: the connection stays open and silent.
        case silence
        case close, reset
        /// Only the sending side is closed.
        case half
    }

    private enum Shape: CaseIterable {
        case whole, torn, repeated, pipelined, announced, upgraded, dripped, mutated, deaf, late
    }

    /// The bytes in pieces, which are sent one by one.
    private(set) var pieces: [[UInt8]] = []
    private(set) var ending = Ending.silence
    /// Whether it reads the relay's answers.
    private(set) var reads = true
    /// A description for people.
    private(set) var name = ""

    /// Returns a random attack on sessions with these ids.
    init(sessions: [Int], by random: inout SeededGenerator) {
        let shape = random.pick(Shape.allCases)
        switch shape {
        case .whole: whole(sessions, by: &random)
        case .torn: torn(sessions, by: &random)
        case .repeated:
            let request = Self.request(sessions, by: &random)
            let count = random.int(in: 2...(request.mayLast ? 5 : 60))
            pieces = [[[UInt8]](repeating: request.bytes(), count: count).flatMap(\.self)]
            name = "\(request.method) \(request.target), repeated"
        case .pipelined:
            let requests = (0..<random.int(in: 2...8)).map { _ in Self.request(sessions, by: &random) }
            pieces = [requests.flatMap { $0.bytes() }]
            name = "pipelined: " + requests.map { "\($0.method) \($0.target)" }.joined(separator: ", ")
        case .announced: announced(Self.anyRequest(sessions, by: &random), by: &random)
        case .upgraded: upgraded(sessions, by: &random)
        case .dripped:
            let request = Self.request(sessions, by: &random)
            pieces = request.bytes().prefix(random.int(in: 1...200)).map { [$0] }
            name = "\(request.method) \(request.target), byte by byte"
        case .mutated: mutated(sessions, by: &random)
        case .deaf:
            // Answers that are not read; no streams, because their viewers have other limits.
            let target = random.pick(["/openapi.json", "/", "/metrics", "/screencapture"])
            let request = Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            pieces = [[[UInt8]](repeating: request, count: 200).flatMap(\.self)]
            (reads, name) = (false, "GET \(target), 200 times, and nothing read")
        case .late:
            pieces = []
            name = "not a byte"
        }
        if shape != .deaf, shape != .late, random.chance(0.3) { ending = random.pick(Ending.allCases) }
    }

    // MARK: Shapes

    private mutating func whole(_ sessions: [Int], by random: inout SeededGenerator) {
        let request = Self.request(sessions, by: &random)
        let fields = random.pick([
            [], ["Connection: close"], ["Expect: 100-continue"], ["Upgrade: h2c", "Connection: Upgrade"],
        ])
        pieces = [request.bytes(fields)]
        name = "\(request.method) \(request.target) \(fields)"
    }

    private mutating func torn(_ sessions: [Int], by random: inout SeededGenerator) {
        let request = Self.anyRequest(sessions, by: &random)
        let bytes = request.bytes()
        // Only the body may be missing; an incomplete request lacks the end of its head.
        let end = request.isNeverWhole ? bytes.firstRange(of: Array("\r\n\r\n".utf8))?.lowerBound ?? 1 : bytes.count - 1
        let count = random.int(in: 1...end)
        pieces = [Array(bytes.prefix(count))]
        name = "\(request.method) \(request.target), \(count) of \(bytes.count) bytes"
    }

    /// A body is announced and does not come.
    private mutating func announced(_ request: CallerRequest, by random: inout SeededGenerator) {
        let framing = random.pick([
            "Content-Length: 5", "Content-Length: 100000", "Content-Length: 9223372036854775807",
            "Transfer-Encoding: chunked",
        ])
        var fields = random.chance(0.2) ? ["Expect: 100-continue"] : []
        if random.chance(0.3) { fields += Self.upgrade(by: &random) }
        let bytes = request.bytes(fields, framing: framing)
        let head = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound ?? bytes.count
        let part =
            framing.hasPrefix("T")
            ? random.pick(["", "5", "5\r\n", "5\r\n{}", "1\r\n{\r\n", "FFFFFFFF\r\n"]) : random.pick(["", "{", "{}"])
        pieces = [Array(bytes[..<head]) + Array(part.utf8)]
        name = "\(request.method) \(request.target) with \(fields + [framing]) and \"\(part)\" of it"
    }

    private mutating func upgraded(_ sessions: [Int], by random: inout SeededGenerator) {
        let request = CallerRequest(socketOf: sessions.isEmpty ? 1 : random.pick(sessions), by: &random)
        var fields = Self.upgrade(by: &random)
        let announced = random.pick([nil, nil, "Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: 0"])
        if random.chance(0.2) {
            fields += random.pick([["Origin: http://elsewhere.example"], ["Upgrade: h2c"], ["Connection: close"]])
        }
        var bytes = request.bytes(fields, framing: announced)
        name = "a WebSocket: GET \(request.target) with \(fields) \(announced ?? "")"
        switch random.int(in: 0...5) {
        case 0:
            bytes = Array(bytes.prefix(random.int(in: 1...bytes.count)))
            name += ", cut after \(bytes.count) bytes"
        case 1:
            bytes = Array("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8) + bytes
            name += ", after another request"
        case 2, 3:
            bytes += LinkBytes.said(seed: random.next())
            name += ", with frames at once"
        default: break
        }
        pieces = [bytes]
    }

    /// The fields of an upgrade, mostly all of them.
    private static func upgrade(by random: inout SeededGenerator) -> [String] {
        var fields = [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        ]
        if random.chance(0.3) { fields.remove(at: random.int(in: 0...3)) }
        return fields
    }

    private mutating func mutated(_ sessions: [Int], by random: inout SeededGenerator) {
        // Changed first lines are used only with calls that change nothing and end soon.
        let targets = ["/livez", "/screencapture", "/metrics", "/openapi.json", "/auth", "/readyz", "/page/page.js"]
        let request = "GET \(random.pick(targets)) HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n"
        let words = [
            "\r\n", "\n", ": ", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "\u{0}", "HTTP/1.0", "%00",
            "//",
        ]
        pieces = [Mutator(corpus: [Array(request.utf8)], words: words).input(by: &random)]
        name = "mutated: \(String(decoding: pieces[0].prefix(300), as: UTF8.self).debugDescription)"
    }

    // MARK: Requests

    /// Returns a request that may be sent completely.
    private static func request(_ sessions: [Int], by random: inout SeededGenerator) -> CallerRequest {
        while true {
            let request = anyRequest(sessions, by: &random)
            if !request.isNeverWhole { return request }
        }
    }

    private static func anyRequest(_ sessions: [Int], by random: inout SeededGenerator) -> CallerRequest {
        CallerRequest(random.pick(Contract.current.operations), sessions: sessions, by: &random)
    }
}
