/// The video coding of a session.
package enum Codec: String, Sendable, Codable, CaseIterable {
    /// ITU-T H.264, also named AVC.
    case h264
    /// ITU-T H.265, also named HEVC.
    case h265

    /// The codec that a user's word names, in any letter case: `h264`, `avc`, `h265` or `hevc`.
    package init?(named name: String) {
        switch name.lowercased() {
        case "h264", "avc": self = .h264
        case "h265", "hevc": self = .h265
        default: return nil
        }
    }
}
