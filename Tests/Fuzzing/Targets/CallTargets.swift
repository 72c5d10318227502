import Access
import Foundation
import HeliographAPI
import Relay

extension FuzzTarget {
    private static let fields = [
        "{\"", "\":", "null", "true", "1e308", "-0.0", "9223372036854775808", "\\u0000", "\\ud800", "width", "height",
        "maxPixels", "codec", "h265", "encoder", "framing", "fps", "bitrate", "repeat", "onDemand", "join", "ttl",
        "port",
        "label", "keyframeInterval", "source", "kind", "test-pattern", "mutter", "node", "timeout", "device",
    ]

    /// Bodies of calls.
    static let json = FuzzTarget("json", words: fields) { input in
        guard let value = try refusable({ try JSONValue(parsing: input) }) else { return }
        let again = try refusable { try JSONValue(parsing: value.text.utf8) }
        // A whole number may be read as a fraction, but is written as a whole number.
        try require(again?.text == value.text, "\(value.text) is read as \(again?.text ?? "nothing")")
        guard case .object(let members) = value else { return }
        if let request = try refusable({ try SessionRequest(reading: members) }) {
            try require(
                try JSONDecoder().decode(SessionRequest.self, from: JSONEncoder().encode(request)) == request,
                "\(request) is not kept"
            )
        }
        if let change = try refusable({ try SessionChange(reading: members) }) {
            let changed = change.applied(to: SessionRequest())
            try require(change.applied(to: changed) == changed, "\(change) twice is another")
        }
        _ = try refusable { try BroadcastStart(reading: members) }
    }

    /// The query after a path, and the path of a WebSocket.
    static let query = FuzzTarget(
        "query",
        words: [
            "/screencapture/", "/ws", "?", "&", "=", "%", "%00", "%ff", "+", "until=static", "until=changed", "for=",
            "after=", "timeout=", "container=mp4", "join=live",
        ]
    ) { input in
        let uri = String(decoding: input, as: UTF8.self)
        let members = QueryFields.members(of: uri, for: WaitQuery.schema)
        for member in members {
            try require(member.value.kind != "an object" && member.value.kind != "an array", "\(member)")
        }
        _ = try refusable { try WaitQuery(reading: members) }
        _ = WebSocketPath(uri)
    }

    /// What callers and people enter: keys, cookies, fingerprints, addresses.
    static let credentials = FuzzTarget(
        "credentials",
        words: ["hgk_", "127.0.0.1:", "[::1]:", "a.9999999999.", "00", ":"]
    ) {
        input in
        let text = String(decoding: input, as: UTF8.self)
        if let key = APIKey(text) {
            try require(key.text == text && "\(key)" == "an API key", "\(text) is another key, or is shown")
        }
        if let fingerprint = Fingerprint(text) {
            try require(Fingerprint(fingerprint.text) == fingerprint, "\(text) is another fingerprint")
        }
        if let bytes = Hexadecimal.bytes(in: text) {
            try require(Hexadecimal.text(of: bytes) == text.lowercased(), "\(text) are other digits")
        }
        if let endpoint = Endpoint(text) {
            try require(Endpoint(endpoint.description) == endpoint, "\(text) is another endpoint")
        }
        try require(LoginCookie().key(of: text, in: ring, now: 0) == nil, "\(text) lets in")
    }

    private static let ring: KeyRing = {
        var ring = KeyRing()
        for name in ["a", "b"] { _ = try? ring.make(name, KeyRing.Terms(.viewer), at: Date()) }
        return ring
    }()
}
