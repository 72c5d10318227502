import HeliographAPI
package import NIOCore
package import Wire

/// A message from a client of the wall: the sessions whose pictures it wants from now on.
package struct WallMessage: Sendable, Equatable {
    package typealias Malformed = ClientMessage.Malformed

    /// Most sessions of a message.
    private static let mostSessions = 256

    /// The sessions, in the order in which they are asked first.
    package var sessions: [SessionID] = []
    /// The pictures' longest side, in pixels.
    package var width = 320
    /// The time between two pictures of a session.
    package var interval = TimeAmount.seconds(2)

    package init(parsing text: String) throws(Malformed) {
        let message = try ClientMessage(parsing: text)
        guard message.type == "show" else { throw Malformed(description: "the type is show") }
        sessions = try Self.sessions(message.value["sessions"])
        if let width = message.value["width"] {
            guard case .integer(let pixels) = width, 16...1920 ~= pixels else {
                throw Malformed(description: "width is 16 to 1920 pixels")
            }
            self.width = pixels
        }
        if let interval = message.value["interval"] {
            guard let seconds = interval.double, 0.5...60 ~= seconds else {
                throw Malformed(description: "interval is 0.5 to 60 s")
            }
            self.interval = TimeAmount(seconds: seconds)
        }
    }

    private static func sessions(_ value: JSONValue?) throws(Malformed) -> [SessionID] {
        guard case .array(let values) = value, values.count <= mostSessions else {
            throw Malformed(description: "sessions is a list of up to \(mostSessions) ids")
        }
        return try values.map { value throws(Malformed) in
            guard case .integer(let number) = value, let id = SessionID(exactly: number) else {
                throw Malformed(description: "sessions is a list of ids")
            }
            return id
        }
    }
}
