package import FoundationEssentials

extension Date {
    private static let apiStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    /// A time as the API writes it: ISO 8601 with milliseconds, UTC.
    package var apiText: String { formatted(Self.apiStyle) }

    /// Reads a time as the API writes it; `nil` for another text.
    package init?(apiText: String) {
        guard let date = try? Date(apiText, strategy: Self.apiStyle) else { return nil }
        self = date
    }
}
