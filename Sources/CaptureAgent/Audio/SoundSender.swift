import Media

/// Makes one codec's units of sound. It may continue the units of another agent.
final class SoundSender {
    let codec: SoundCodec
    /// The position from which kept sound is still to be sent, because another agent has ended; `nil` if none is.
    var backlog: Int64?
    private let track: MediaTrack
    private let encoder: any SoundEncoder
    private var packets: SoundPackets
    /// Packets before this position prepare the encoder, and are not sent.
    private let from: Int64
    /// Whether the decoder has got a packet of this encoder.
    private var hasBegun = false
    /// The levels of the last packets' samples. A packet's decoded sound is that of one of them.
    private var levels: [SoundLevel] = []

    /// Begins where another encoder's sound has ended, with the packets before it for the encoder alone.
    init(_ codec: SoundCodec, _ track: MediaTrack, _ encoder: any SoundEncoder, continuingAt position: Int64) {
        (self.codec, self.track, self.encoder, from, backlog) = (codec, track, encoder, position, .min)
        packets = SoundPackets(
            size: encoder.packetSize,
            lookahead: encoder.lookahead,
            from: position - Int64(encoder.preparation * encoder.packetSize),
            isContinued: true
        )
    }

    /// Begins with the samples at a position.
    init(_ codec: SoundCodec, _ track: MediaTrack, _ encoder: any SoundEncoder, beginningAt position: Int64) {
        (self.codec, self.track, self.encoder, from) = (codec, track, encoder, .min)
        packets = SoundPackets(size: encoder.packetSize, lookahead: encoder.lookahead, from: position)
    }

    /// Returns the units that the next samples complete.
    ///
    /// - Parameter captured: When the sample at a position was captured, in monotonic ns.
    func take(_ samples: SoundSamples, captured: (Int64) -> UInt64) -> [AccessUnit] {
        units(of: packets.take(samples), captured)
    }

    /// Returns the last units before a silence.
    func idle(captured: (Int64) -> UInt64) -> [AccessUnit] { units(of: packets.idle(), captured) }

    private func units(of packets: [SoundPacket], _ captured: (Int64) -> UInt64) -> [AccessUnit] {
        packets.compactMap { packet in
            let begin = MonotonicClock.now
            let level = level(of: packet.samples)
            guard let bytes = encoder.encode(packet.samples, standsAlone: !hasBegun), packet.samples.position >= from
            else { return nil }
            hasBegun = true
            // The decoded sound is late by what the encoder looks ahead.
            let position = packet.samples.position - Int64(encoder.lookahead)
            return AccessUnit(
                UnitHeader(
                    track: track.id,
                    pts: position * 125 / 6,
                    captured: captured(packet.samples.position),
                    encodeStart: begin,
                    encodeEnd: MonotonicClock.now,
                    flags: packet.beginsSilence ? [.key, .silence] : .key,
                    size: PictureSize(width: 0, height: 0),
                    level: level
                ),
                bytes
            )
        }
    }

    /// Returns how loud a packet's decoded sound is.
    private func level(of samples: SoundSamples) -> SoundLevel {
        levels.append(samples.level)
        let late = encoder.lookahead / encoder.packetSize
        if levels.count > late + 1 { levels.removeFirst() }
        return levels.count > late ? levels[0] : SoundLevel(decibels: SoundLevel.range.lowerBound)
    }
}
