package import HeliographAPI

/// A message from a viewer on its WebSocket: one JSON object.
package enum ViewerMessage: Sendable, Equatable {
    /// The viewer wants a keyframe.
    case keyframe
    /// The viewer has presented the picture with this PTS, µs, at least 0. If known, it adds when, in monotonic ns on
    /// the relay's clock.
    case acknowledgement(Int64, presented: UInt64?)
    /// The picture with this PTS, µs, at least 0, has arrived, and all before it.
    case received(Int64)
    /// The viewer wants the relay's clock. The value is its id for the question.
    case clock(JSONValue)
    /// The viewer wants the device's sound, or does not want it any more.
    case audio(Bool)
    /// A type from a later release, which is ignored.
    case unknown

    /// Longest id of a question, in bytes, because the answer repeats it.
    private static let longestID = 64

    package typealias Malformed = ClientMessage.Malformed

    package init(parsing text: String) throws(Malformed) {
        let message = try ClientMessage(parsing: text)
        let value = message.value
        switch message.type {
        case "keyframe": self = .keyframe
        case "received": self = .received(try Self.pts(of: message))
        case "ack":
            let pts = try Self.pts(of: message)
            switch value["presented"] {
            case nil, .null?: self = .acknowledgement(pts, presented: nil)
            case .integer(let instant)? where instant >= 0:
                self = .acknowledgement(pts, presented: UInt64(clamping: instant))
            default: throw Malformed(description: "presented is not a timestamp")
            }
        case "clock":
            switch value["id"] {
            case .string(let id)? where id.utf8.count > Self.longestID:
                throw Malformed(description: "the id is too long")
            case .integer?, .string?: self = .clock(value["id"] ?? nil)
            default: throw Malformed(description: "clock has no id")
            }
        case "audio":
            guard case .bool(let isOn) = value["on"] else { throw Malformed(description: "audio has no on") }
            self = .audio(isOn)
        default: self = .unknown
        }
    }

    private static func pts(of message: ClientMessage) throws(Malformed) -> Int64 {
        // PTS begin at 0. Rejecting negative ones prevents overflows.
        guard case .integer(let pts) = message.value["pts"], pts >= 0 else {
            throw Malformed(description: "\(message.type) has no pts")
        }
        return Int64(clamping: pts)
    }
}
