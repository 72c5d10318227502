/// How a session's TCP port delimits pictures.
package enum Framing: String, Sendable, CaseIterable, Codable {
    /// The bare Annex B byte stream: every player reads it.
    case annexB = "annexb"
    /// A 12-byte header before each packet, as scrcpy's video socket has it.
    case scrcpy

    /// The framing that a user's word names, in any letter case.
    package init?(named name: String) {
        switch name.lowercased() {
        case "annexb", "annex-b", "raw": self = .annexB
        case "scrcpy", "packet", "packetized": self = .scrcpy
        default: return nil
        }
    }
}
