/// What the holder of an API key may do. A role may all that the ones before it may.
package enum Role: String, Sendable, Codable, CaseIterable, Comparable {
    /// Look and watch.
    case viewer
    /// Change things, too.
    case `operator`

    package static func < (left: Role, right: Role) -> Bool {
        left == .viewer && right == .operator
    }
}
