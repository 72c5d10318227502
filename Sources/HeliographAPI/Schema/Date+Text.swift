package import FoundationEssentials

extension Date {
    /// A time as the API writes it: ISO 8601 with milliseconds, UTC.
    package var apiText: String { formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
