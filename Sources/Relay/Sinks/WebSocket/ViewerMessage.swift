package import HeliographAPI

/// What a viewer says on its WebSocket: one JSON object a message.
package enum ViewerMessage: Sendable, Equatable {
    /// It wants a keyframe.
    case keyframe
    /// It has presented the picture of this PTS, µs, at least 0, and when, on the relay's clock in monotonic ns, if it knows.
    case acknowledgement(Int64, presented: UInt64?)
    /// It wants the relay's clock, with what it named the question.
    case clock(JSONValue)
    /// A type of a later release: ignored.
    case unknown

    /// Longest id of a question, bytes: it is sent back.
    private static let longestID = 64

    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    package init(parsing text: String) throws(Malformed) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: text.utf8)
        } catch {
            throw Malformed(description: "not JSON")
        }
        guard case .string(let type) = value["type"] else { throw Malformed(description: "no type") }
        switch type {
        case "keyframe": self = .keyframe
        case "ack":
            // Pictures' time stamps begin at 0: what is computed from those cannot overflow.
            guard case .integer(let pts) = value["pts"], pts >= 0 else {
                throw Malformed(description: "ack without pts")
            }
            switch value["presented"] {
            case nil, .null?: self = .acknowledgement(Int64(clamping: pts), presented: nil)
            case .integer(let instant)? where instant >= 0:
                self = .acknowledgement(Int64(clamping: pts), presented: UInt64(clamping: instant))
            default: throw Malformed(description: "presented is no instant")
            }
        case "clock":
            switch value["id"] {
            case .string(let id)? where id.utf8.count > Self.longestID: throw Malformed(description: "a long id")
            case .integer?, .string?: self = .clock(value["id"] ?? nil)
            default: throw Malformed(description: "clock without id")
            }
        default: self = .unknown
        }
    }
}
