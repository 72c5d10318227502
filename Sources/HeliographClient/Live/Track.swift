import HeliographAPI

/// One elementary stream of a session: its pictures, or the sound of its device.
public struct Track: Sendable, Hashable {
    public enum Kind: String, Sendable {
        case video, audio
    }

    public let id: UInt16
    public let kind: Kind
    /// `h264`, `h265` or `opus`.
    public let codec: String
    /// The number of channels; `nil` for pictures.
    public let channels: Int?
    /// Samples per second; `nil` for pictures.
    public let sampleRate: Int?

    /// Reads an element of the event `tracks`; docs/reference/websocket.md.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.integer.flatMap(UInt16.init(exactly:)), let codec = json["codec"]?.string,
            let kind = json["kind"]?.string.flatMap(Kind.init)
        else { return nil }
        (self.id, self.kind, self.codec) = (id, kind, codec)
        (channels, sampleRate) = (json["channels"]?.integer, json["sampleRate"]?.integer)
    }
}
