import FoundationEssentials
package import HeliographAPI
package import Library

/// A condition of a ``LibraryQuery`` that cannot be understood.
package struct LibraryQueryFault: Error, Equatable, CustomStringConvertible {
    /// The argument.
    package let field: String
    /// What is wrong, and what to write.
    package let description: String
}

extension ItemQuery {
    /// Reads the conditions of a call.
    package init(_ asked: LibraryQuery) throws(LibraryQueryFault) {
        self.init()
        devices = asked.device.map { [$0] }
        session = asked.session.map { UInt32(clamping: $0) }
        recording = asked.recording
        if let text = asked.label {
            let (name, value) = try Self.label(text)
            labels = [name: value]
        }
        if let word = asked.state {
            guard let state = ItemState(name: word) else {
                let names = ItemState.allCases.map(\.name).joined(separator: ", ")
                throw LibraryQueryFault(field: "state", description: "state is \"\(word)\"; allowed: \(names)")
            }
            states = [state]
        }
        since = try Self.time(asked.since, "since")
        until = try Self.time(asked.until, "until")
        isPinned = asked.pinned
        text = asked.text
        order = asked.order == .newest ? .newestFirst : .oldestFirst
        cursor = asked.cursor
        limit = asked.limit
    }

    /// Splits a label, `NAME=VALUE`.
    package static func label(_ text: String) throws(LibraryQueryFault) -> (name: String, value: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, let value = parts.dropFirst().first, !name.isEmpty else {
            throw LibraryQueryFault(field: "label", description: "label is \"\(text)\"; write it as NAME=VALUE")
        }
        return (String(name), String(value))
    }

    /// Returns a time in µs since 1970.
    private static func time(_ text: String?, _ field: String) throws(LibraryQueryFault) -> Int64? {
        guard let text else { return nil }
        let date =
            (try? Date(text, strategy: .iso8601))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        guard let date, (0...253_402_300_799).contains(date.timeIntervalSince1970) else {
            throw LibraryQueryFault(
                field: field,
                description: "\(field) is \"\(text)\"; write it like 2026-01-31T12:00:00Z"
            )
        }
        return Int64(date.timeIntervalSince1970 * 1e6)
    }
}
