/// Reads a stream of server-sent events (WHATWG HTML, section 9.2.6) from its bytes.
///
///     var events = ServerSentEvents()
///     for try await bytes in response.body {
///         for event in events.read(bytes) { print(event.data) }
///     }
package struct ServerSentEvents: Sendable {
    /// One event of the stream.
    package struct Event: Sendable, Equatable {
        /// The last `id` until then. Empty before the first.
        package var id: String
        /// The event's type; empty if it has none.
        package var type: String
        package var data: String

        package init(id: String, type: String, data: String) { (self.id, self.type, self.data) = (id, type, data) }
    }

    /// Most bytes of a line. Longer lines are cut off.
    package static let maximumLine = 1 << 20

    private var line: [UInt8] = []
    /// Whether the last byte was a carriage return. A line feed after it does not end another line.
    private var isAfterReturn = false
    /// The last `id` so far, at which a client that reconnects continues. Also a block without data may change it.
    package private(set) var id = ""
    private var type = ""
    private var data: [String] = []

    package init() {}

    /// Reads the stream's next bytes and returns the events that they complete.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            let ends = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            if ends, !(byte == UInt8(ascii: "\n") && isAfterReturn) {
                if let event = endLine() { events.append(event) }
            } else if !ends, line.count < Self.maximumLine {
                line.append(byte)
            }
            isAfterReturn = byte == UInt8(ascii: "\r")
        }
        return events
    }

    /// Processes the line. An empty line completes an event with data.
    private mutating func endLine() -> Event? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            defer { (type, data) = ("", []) }
            return data.isEmpty ? nil : Event(id: id, type: type, data: data.joined(separator: "\n"))
        }
        let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.dropFirst().first.map { $0.first == UInt8(ascii: " ") ? $0.dropFirst() : $0 } ?? []
        let text = String(decoding: value, as: UTF8.self)
        // A comment has an empty name.
        switch parts.first.map({ String(decoding: $0, as: UTF8.self) }) {
        case "id" where !text.utf8.contains(0): id = text
        case "event": type = text
        case "data": data.append(text)
        default: break
        }
        return nil
    }
}
