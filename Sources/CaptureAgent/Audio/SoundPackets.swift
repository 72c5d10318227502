/// The samples of one packet.
package struct SoundPacket: Sendable, Equatable {
    package var samples: SoundSamples
    /// Whether digital silence follows, until the next packet.
    package var beginsSilence: Bool
}

/// Cuts sound into packets of one size, and leaves out digital silence.
///
/// Sound that begins or breaks off fades for 5 ms, so that nothing pops. After sound come silent packets, which empty
/// the encoder, and one that tells the silence. Nothing follows until the next sound.
package struct SoundPackets: Sendable {
    /// The samples of a fade: 5 ms.
    private static let fade = 240

    /// The samples of a packet.
    private let size: Int
    /// The silent packets after sound, with the one that tells the silence.
    private let mostSilent: Int
    /// The samples of the next packet, incomplete. Before the first ones its position is that of no sample.
    private var pending = SoundSamples(position: .min, values: [])
    /// Whether the next samples may continue those of another agent.
    private var isContinued: Bool
    /// How many of the next samples still fade in.
    private var fadesIn = 0
    /// Whether silence was told.
    package private(set) var isSilent: Bool
    private var silentPackets = 0
    /// Positions before this one were sent.
    private var sent: Int64

    /// - Parameters:
    ///   - size: The samples of a packet.
    ///   - lookahead: The samples that the encoder looks ahead.
    ///   - position: Where sound begins. Samples before it are left out.
    ///   - isContinued: Whether another agent has sent the sound before it. Then it does not fade in there.
    package init(size: Int, lookahead: Int, from position: Int64, isContinued: Bool = false) {
        self.size = size
        mostSilent = (lookahead + size - 1) / size + 1
        self.isContinued = isContinued
        isSilent = !isContinued
        sent = isContinued ? position : (position + SoundSamples.step - 1) / SoundSamples.step * SoundSamples.step
    }

    /// Takes the next samples, and returns the packets that are complete.
    package mutating func take(_ samples: SoundSamples) -> [SoundPacket] {
        var samples = samples
        var packets: [SoundPacket] = []
        if samples.position != pending.end {
            // A grid of its own begins, after what was sent.
            packets = flush()
            samples.removeFirst(Int(min(max(0, sent - samples.position), Int64(samples.count))))
            let continues = isContinued && samples.position == sent
            if !continues {
                let unaligned = (SoundSamples.step - samples.position % SoundSamples.step) % SoundSamples.step
                samples.removeFirst(Int(min(unaligned, Int64(samples.count))))
            }
            guard samples.count > 0 else { return packets }
            fadesIn = continues ? 0 : Self.fade
            isContinued = false
            pending = SoundSamples(position: samples.position, values: [])
        }
        pending.values += fadedIn(samples.values)
        while pending.count >= size {
            let full = SoundSamples(
                position: pending.position,
                values: Array(pending.values.prefix(size * SoundSamples.channels))
            )
            pending.removeFirst(size)
            if let packet = packet(full) { packets.append(packet) }
        }
        return packets
    }

    /// Ends the sound, because its source is idle: what waits fades out, and silence is told.
    package mutating func idle() -> [SoundPacket] {
        guard !isSilent else { return [] }
        var packets = flush()
        while !isSilent {
            let silence = SoundSamples(
                position: sent,
                values: Array(repeating: 0, count: size * SoundSamples.channels)
            )
            if let packet = packet(silence) { packets.append(packet) }
        }
        pending = SoundSamples(position: sent, values: [])
        return packets
    }

    /// Fades out what waits, and fills the packet up with silence.
    private mutating func flush() -> [SoundPacket] {
        guard pending.count > 0 else { return [] }
        let faded = min(Self.fade, pending.count)
        for index in 0..<faded {
            let (place, gain) = (pending.count - 1 - index, Float(index) / Float(faded))
            for channel in 0..<SoundSamples.channels { pending.values[place * SoundSamples.channels + channel] *= gain }
        }
        pending.values += Array(repeating: 0, count: (size - pending.count) * SoundSamples.channels)
        let last = packet(pending)
        pending = SoundSamples(position: pending.end, values: [])
        return last.map { [$0] } ?? []
    }

    private mutating func fadedIn(_ values: [Float]) -> [Float] {
        guard fadesIn > 0 else { return values }
        var values = values
        for place in 0..<min(fadesIn, values.count / SoundSamples.channels) {
            let gain = Float(Self.fade - fadesIn) / Float(Self.fade)
            for channel in 0..<SoundSamples.channels { values[place * SoundSamples.channels + channel] *= gain }
            fadesIn -= 1
        }
        return values
    }

    /// Returns a full packet, or `nil` if it is in a silence that was told.
    private mutating func packet(_ samples: SoundSamples) -> SoundPacket? {
        let isZero = samples.values.allSatisfy { $0 == 0 }
        if isZero, isSilent { return nil }
        silentPackets = isZero ? silentPackets + 1 : 0
        isSilent = silentPackets == mostSilent
        sent = samples.end
        return SoundPacket(samples: samples, beginsSilence: isSilent)
    }
}
