/// A binary message with speech for a device's microphone; see docs/reference/websocket.md.
package enum SpeechMessage {
    /// The first byte.
    package static let kind: UInt8 = 0x20

    /// Returns the message.
    ///
    /// - Parameter packet: An Opus packet; empty to end.
    package static func bytes(_ packet: [UInt8]) -> [UInt8] { [kind, 0, 0, 0] + packet }
}
