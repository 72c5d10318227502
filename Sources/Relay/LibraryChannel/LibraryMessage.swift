import HeliographAPI

/// A message from a client of the library's channel: one JSON object. docs/reference/library-channel.md has them all.
package enum LibraryMessage: Sendable, Equatable {
    /// The first message.
    ///
    /// - Parameter name: What the client calls itself.
    case hello(version: Int, name: String?)
    case command(Command)
    /// A type that this release does not know.
    case unknown(String)

    /// What the client does. Positions are in µs.
    package enum Command: Sendable, Equatable {
        case play(items: [Int64], place: Int, position: Int64)
        case resume
        case pause
        case next
        case previous
        case seek(Int64)
        case setVolume(Double)
        case toggleShuffle
        case refreshDB

        /// The message's type.
        package var type: String {
            switch self {
            case .play, .resume: "play"
            case .pause: "pause"
            case .next: "next"
            case .previous: "previous"
            case .seek: "seek"
            case .setVolume: "setVolume"
            case .toggleShuffle: "toggleShuffle"
            case .refreshDB: "refreshDB"
            }
        }
    }

    package typealias Malformed = ClientMessage.Malformed

    /// The version of the protocol.
    package static let version = 1
    /// The most characters of a name, and bytes of a type that an answer repeats.
    private static let longestName = 64
    /// The highest position, in s: 115 days.
    private static let longestTime = 10_000_000.0

    package init(parsing text: String) throws(Malformed) {
        let message = try ClientMessage(parsing: text)
        let value = message.value
        switch message.type {
        case "hello":
            guard case .integer(let version) = value["version"] else {
                throw Malformed(description: "hello has no version")
            }
            self = .hello(version: version, name: try Self.name(value["name"]))
        case "play":
            guard let items = value["items"], items != .null else {
                self = .command(.resume)
                return
            }
            self = .command(
                .play(
                    items: try Self.items(items),
                    place: try Self.place(value),
                    position: try Self.position(value) ?? 0
                )
            )
        case "resume": self = .command(.resume)
        case "pause": self = .command(.pause)
        case "next": self = .command(.next)
        case "previous": self = .command(.previous)
        case "seek":
            guard let position = try Self.position(value) else { throw Malformed(description: "seek has no position") }
            self = .command(.seek(position))
        case "setVolume":
            guard let volume = value["volume"]?.double, 0...1 ~= volume else {
                throw Malformed(description: "setVolume needs a volume from 0 to 1")
            }
            self = .command(.setVolume(volume))
        case "toggleShuffle": self = .command(.toggleShuffle)
        case "refreshDB": self = .command(.refreshDB)
        default:
            guard message.type.utf8.count <= Self.longestName else {
                throw Malformed(description: "the type is too long")
            }
            self = .unknown(message.type)
        }
    }

    private static func name(_ value: JSONValue?) throws(Malformed) -> String? {
        switch value {
        case nil, .null?: return nil
        case .string(let name)?
        where 1...longestName ~= name.count
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }:
            return name
        default: throw Malformed(description: "name is a text of 1 to \(longestName) characters")
        }
    }

    private static func items(_ value: JSONValue) throws(Malformed) -> [Int64] {
        guard case .array(let values) = value, !values.isEmpty else {
            throw Malformed(description: "items is a list of at least one id")
        }
        return try values.map { value throws(Malformed) in
            guard case .integer(let id) = value else { throw Malformed(description: "items is a list of ids") }
            return Int64(id)
        }
    }

    private static func place(_ value: JSONValue) throws(Malformed) -> Int {
        switch value["place"] {
        case nil, .null?: return 0
        case .integer(let place)? where place >= 0: return place
        default: throw Malformed(description: "place is a number from 0")
        }
    }

    /// Returns the position in µs; `nil` if there is none.
    private static func position(_ value: JSONValue) throws(Malformed) -> Int64? {
        guard let position = value["position"], position != .null else { return nil }
        guard let seconds = position.double, 0...longestTime ~= seconds else {
            throw Malformed(description: "position is a time in s, from 0 to 10000000")
        }
        return Int64(seconds * 1e6)
    }
}
