import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport

/// A request from the API's contract.
struct CallerRequest: Sendable {
    let method: String
    let target: String
    let body: String?
    /// Whether it is never sent completely, because it would end what others use.
    let isNeverWhole: Bool

    /// Calls that end or change more than the attacked sessions.
    private static let reserved = Set(
        [Routes.drain.route, Routes.stopSessions.route, Routes.stopBroadcast.route].flatMap(\.addresses).map {
            "\($0.method.rawValue) \($0.path)"
        }
    )
    private static let bodies = [
        "{}", "{\"device\": \"alpha\"}", "{\"fps\": 30}", "{\"device\": \"alpha\", \"timeout\": 0.1}", "[]", "{",
        "null",
        "{\"key\": \"a\"}", "{\"width\": null}",
    ]
    private static let queries = [
        "device": ["alpha", "steady", "nobody"], "join": ["cache", "live", "x"], "fresh": ["true", "x"],
        "use": ["false"],
        "fps": ["1", "240", "0"], "until": ["changed", "static", "x"], "timeout": ["0", "0.3", "1"],
        "for": ["0", "0.1"],
        "after": ["0", "9223372036854775807"], "container": ["mp4", "ts"],
    ]

    /// Returns a random request.
    ///
    /// - Parameter sessions: Ids of existing sessions.
    init(_ operation: ContractOperation, sessions: [Int], by random: inout some RandomNumberGenerator) {
        method = operation.method
        isNeverWhole = Self.reserved.contains(operation.name)
        let id = random.chance(0.85) && !sessions.isEmpty ? random.pick(sessions) : 4_000_000_000
        let values = [
            "{id}": "\(id)", "{file}": random.pick(["page.js", "style.css", "x"]),
            "{device}": random.pick(["alpha", "nobody"]),
        ]
        var path = values.reduce(operation.path) { $0.replacing($1.key, with: $1.value) }
        var query: [String] = []
        for parameter in operation.parameters where parameter["in"]?.string == "query" {
            guard let name = parameter["name"]?.string, let values = Self.queries[name] else { continue }
            // By default, a wait lasts for half a minute.
            guard random.chance(0.7) || ["until", "timeout"].contains(name) else { continue }
            query.append("\(name)=\(random.pick(values))")
        }
        if !query.isEmpty { path += "?" + query.joined(separator: "&") }
        target = path
        body = ["POST", "PATCH"].contains(method) ? random.pick(Self.bodies) : nil
    }

    /// A request for a WebSocket of a session.
    init(socketOf session: Int, by random: inout some RandomNumberGenerator) {
        (method, body, isNeverWhole) = ("GET", nil, false)
        let address = random.pick(Routes.watchOverWebSocket.route.addresses).path(session: UInt32(session))
        target = address + random.pick(["", "?container=mp4", "?join=live", "?container=ts"])
    }

    /// Whether its answer may last until its caller goes, or for the time that it names.
    var mayLast: Bool { target.contains("/stream.") || target.contains("/ws") || target.contains("/wait") }

    /// Returns its bytes.
    ///
    /// - Parameters:
    ///   - fields: Lines of the head besides the usual ones.
    ///   - framing: How the body is announced; `nil` for its length.
    func bytes(_ fields: [String] = [], framing: String? = nil) -> [UInt8] {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + fields
        if let framing {
            lines.append(framing)
        } else if let body {
            lines.append("Content-Length: \(body.utf8.count)")
        }
        return Array((lines + ["", body ?? ""]).joined(separator: "\r\n").utf8)
    }
}
