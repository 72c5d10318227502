import HeliographAPI
import Library
import LibraryAPI
import Program

/// What the relay tells a client of the library's channel: one JSON object per message.
enum LibraryEvent {
    /// - Parameter mark: The catalogue's; see ``Library/changes(since:scope:)``.
    static func hello(client: String, mark: String) -> JSONValue {
        [
            "type": "hello", "version": .integer(LibraryMessage.version), "release": .string(Release.current),
            "client": .string(client), "mark": .string(mark),
        ]
    }

    /// Tells that the catalogue has changed, or how it is.
    static func ready(mark: String) -> JSONValue { ["type": "dbReady", "mark": .string(mark)] }

    static func added(_ item: Item) -> JSONValue {
        ["type": "recordingAdded", "item": (try? JSONValue(encoding: LibraryItem(item))) ?? .null]
    }

    static func removed(_ id: Int64) -> JSONValue { ["type": "recordingRemoved", "item": JSONValue(id)] }

    static func playback(_ report: LibraryClientReport) -> JSONValue {
        guard case .object(let members) = try? JSONValue(encoding: report) else { return .null }
        return .object([JSONValue.Member(name: "type", value: "playbackState")] + members)
    }

    static func left(client: String) -> JSONValue { ["type": "clientLeft", "client": .string(client)] }

    /// - Parameter command: The type of the message that is refused; `nil` if it is the connection.
    static func error(_ code: Code, _ detail: String, command: String? = nil) -> JSONValue {
        ["type": "error", "code": .string(code.rawValue), "detail": .string(detail), "command": JSONValue(command)]
    }

    /// Why a message is refused.
    enum Code: String, CaseIterable {
        /// The client's version is another one. The connection ends.
        case otherVersion = "other_version"
        case unknownCommand = "unknown_command"
        case unknownItem = "unknown_item"
        /// The queue is empty.
        case nothingToPlay = "nothing_to_play"
        case libraryUnavailable = "library_unavailable"
    }
}
