public import HeliographClient
import Sound

/// A decoder of a session's sound, by libopus: stereo, 48,000 samples a second.
///
///     let decoder = SoundDecoder()
///     for try await unit in live.audio { player.play(decoder.decode(unit)) }
public final class SoundDecoder {
    private let decoder = OpusDecoder(channels: 2)

    public init() {}

    /// Forgets the packets before, because the next one does not continue them.
    public func reset() { decoder?.reset() }

    /// Decodes a packet of `LiveSession.audio`.
    ///
    /// - Returns: Left and right in turn; empty if the packet is damaged.
    public func decode(_ unit: MediaUnit) -> [Float] {
        guard case .sound = unit.content else { return [] }
        return decoder?.decode(unit.bytes) ?? []
    }
}
