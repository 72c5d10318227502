import HummingbirdCore

/// Where a viewer that joins begins.
package enum Join: String, Sendable, CaseIterable, Codable {
    /// At the last keyframe where that is recent, with all pictures since; else as ``live``.
    case cache
    /// At the next keyframe, which is asked for: no picture of the past.
    case live

    /// What the query of a call says, nil where it says nothing.
    init?(query uri: URI) throws(Problem) {
        guard let word = uri.queryParameters["join"] else { return nil }
        guard let join = Join(rawValue: String(word)) else {
            throw Problem(.unknownValue, "join is \"\(word)\"; allowed: cache or live", field: "join")
        }
        self = join
    }
}
