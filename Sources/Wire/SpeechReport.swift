/// How speech reaches the programs that record an agent's microphone. Sent once a second while a caller speaks.
package struct SpeechReport: Sendable, Equatable, Codable {
    /// The most bytes of a packet of speech: a frame of Opus has at most 1,275.
    package static let longestPacket = 2048

    /// How long speech waits in the agent before programs get it, in ms; absent while no program records.
    package var delay: Int?
    /// How often speech came too late since the agent started, so that programs heard a hole.
    package var holes: Int

    package init(delay: Int?, holes: Int) { (self.delay, self.holes) = (delay, holes) }
}
