import Access

/// Who may call a route. Its raw value is what docs/api.md calls them.
package enum RouteAccess: String, Sendable {
    /// Whoever reaches the relay.
    case anyone
    /// Who shows a key, of whatever role.
    case viewer
    /// Who shows an operator's key.
    case `operator`

    /// The least role that may; nil where none is needed.
    var role: Role? {
        switch self {
        case .anyone: nil
        case .viewer: .viewer
        case .operator: .operator
        }
    }
}
