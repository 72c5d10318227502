/// What a viewer says on its WebSocket: one JSON object a message.
package enum ViewerMessage: Sendable, Equatable {
    /// It wants a keyframe.
    case keyframe
    /// It has presented the picture of this PTS, µs.
    case acknowledgement(Int64)
    /// It wants the relay's clock, with what it named the question.
    case clock(JSONValue)
    /// A type of a later release: ignored.
    case unknown

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
            guard case .integer(let pts) = value["pts"] else { throw Malformed(description: "ack without pts") }
            self = .acknowledgement(Int64(pts))
        case "clock":
            switch value["id"] {
            case .integer?, .string?: self = .clock(value["id"] ?? nil)
            default: throw Malformed(description: "clock without id")
            }
        default: self = .unknown
        }
    }
}
