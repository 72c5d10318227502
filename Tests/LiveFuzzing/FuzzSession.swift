import HeliographAPI
import Media
import Relay
import RelayTestSupport
import Wire

/// A session of the fuzzed relay.
struct FuzzSession {
    let id: SessionID
    let port: Int
    let codec: Codec
    let framing: Framing

    /// Reads the answer to its start; returns `nil` if the answer is not a session.
    init?(_ json: JSONValue) {
        guard case .integer(let id)? = json["id"], case .integer(let port)? = json["port"],
            let codec = json["codec"]?.string.flatMap(Codec.init(rawValue:)),
            let framing = json["framing"]?.string.flatMap(Framing.init(rawValue:))
        else { return nil }
        (self.id, self.port, self.codec, self.framing) = (SessionID(id), port, codec, framing)
    }
}
