/// A corner of a window.
package enum Corner: String, Sendable, Codable {
    case topLeft, topRight, bottomRight, bottomLeft

    /// The corner after this one, clockwise.
    var next: Corner {
        switch self {
        case .topLeft: .topRight
        case .topRight: .bottomRight
        case .bottomRight: .bottomLeft
        case .bottomLeft: .topLeft
        }
    }
}
