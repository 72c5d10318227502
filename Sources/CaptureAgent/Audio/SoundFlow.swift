package import Media
package import Wire

/// Makes a track's units of captured sound, or keeps the last second while another agent sends.
package final class SoundFlow {
    /// The track of a device's sound.
    package static let trackID: MediaTrack.ID = 1
    /// The samples that are kept: 1 s.
    private static let memory = SoundSamples.rate

    /// How far the counts of two agents may be apart, in samples: 10 ms.
    private static let longestShift: Int64 = 480
    /// How far from now another agent's sound may have ended, in ns.
    private static let longestReach: UInt64 = .milliseconds(5_000)

    private let coding: SoundCoding
    private var isOn = false
    private var clock = SoundClock()
    private let resampler = SoundResampler()
    /// The last second of sound, in pieces as they came.
    private var kept: [SoundSamples] = []
    private var keptCount = 0
    /// What sends; `nil` unless the relay wants sound from this agent.
    private var sender: Sender?
    /// The position from which kept sound is still to be sent, because another agent has ended; `nil` if none is.
    private var backlog: Int64?

    private struct Sender {
        var packets: SoundPackets
        let encoder: OpusSoundEncoder
        /// Packets before this position prepare the encoder, and are not sent.
        let from: Int64
        /// Whether the decoder has got a packet of this encoder.
        var hasBegun = false

        init(_ packets: SoundPackets, _ encoder: OpusSoundEncoder, from: Int64) {
            (self.packets, self.encoder, self.from) = (packets, encoder, from)
        }
    }

    package init(_ coding: SoundCoding) { self.coding = coding }

    /// The tracks that it makes. Units' times are those of the decoded sound, so there is nothing to discard at the
    /// start.
    package static let tracks =
        OpusParameters(channels: UInt8(SoundSamples.channels), preSkip: 0).map {
            [MediaTrack(id: trackID, coding: .opus($0))]
        } ?? []

    /// Begins to send. What is kept of the sound since then comes from ``catchUp()``.
    ///
    /// - Parameters:
    ///   - from: The time at which another agent's sound has ended, in monotonic µs; `nil` for now.
    ///   - captured: When the sample that comes next was captured, in monotonic ns; `nil` if unknown.
    ///   - now: Monotonic ns.
    /// - Returns: Whether there is an encoder.
    package func send(from: Int64?, captured: Int64? = nil, now: UInt64) -> Bool {
        guard let encoder = OpusSoundEncoder(coding) else { return false }
        (isOn, backlog) = (true, nil)
        // Older sound is not kept, and a later time is wrong.
        let reach = now - min(now, Self.longestReach)...now + Self.longestReach
        guard let from, from >= 0, case let begin = UInt64(from).multipliedReportingOverflow(by: 1000), !begin.overflow,
            reach.contains(begin.partialValue)
        else {
            let end = kept.last?.end ?? 0
            sender = Sender(SoundPackets(size: coding.packet.samples, from: end), encoder, from: .min)
            return true
        }
        let position = SoundSamples.position(at: begin.partialValue) + Int64(encoder.lookahead)
        follow(captured.flatMap { UInt64(exactly: $0) }, at: position)
        // The encoder needs the samples before, which its first packet would lack.
        let packets = SoundPackets(
            size: coding.packet.samples,
            from: position - Int64(coding.packet.samples),
            isContinued: true
        )
        sender = Sender(packets, encoder, from: position)
        backlog = .min
        return true
    }

    /// Returns the next units of kept sound that another agent has not sent; `nil` if there are none left.
    ///
    /// It encodes one piece, so that captured samples never wait for a second of sound.
    package func catchUp() -> [AccessUnit]? {
        guard let position = backlog, let piece = kept.first(where: { $0.end > position }) else {
            backlog = nil
            return nil
        }
        backlog = piece.end
        return packeted(piece)
    }

    /// Keeps the last second from now on, and sends nothing.
    package func keep() { (isOn, sender, backlog) = (true, nil, nil) }

    /// Takes samples that were captured, and returns the units that they complete.
    ///
    /// - Parameters:
    ///   - values: Left and right in turn.
    ///   - instant: When the first one was captured, in monotonic ns.
    package func take(_ values: [Float], at instant: UInt64) -> [AccessUnit] {
        // The capture may still run for a moment.
        guard isOn else { return [] }
        let placement = clock.place(count: values.count / SoundSamples.channels, at: instant)
        if placement.jumps { resampler.reset() }
        let samples = SoundSamples(
            position: placement.position,
            values: resampler.process(values, correction: placement.correction),
            captured: instant
        )
        clock.took(samples.count)
        keep(samples)
        // What was before comes first.
        return backlog == nil ? packeted(samples) : []
    }

    /// Forgets all sound, and takes none until ``keep()`` or ``send(from:now:)``.
    package func stop() {
        (isOn, sender, backlog, kept, keptCount) = (false, nil, nil, [], 0)
        clock.stop()
    }

    /// Records that the source makes no sound, and returns the last units before the silence.
    package func idle() -> [AccessUnit] {
        clock.stop()
        var last: [AccessUnit] = []
        while let units = catchUp() { last += units }
        guard let packets = sender?.packets.idle() else { return last }
        return last + units(of: packets)
    }

    /// Counts as another agent does, for whom the sample that was captured at an instant has this position.
    private func follow(_ instant: UInt64?, at position: Int64) {
        guard let instant, let own = kept.lazy.compactMap({ $0.position(capturedAt: instant) }).first else { return }
        let shift = position - own
        guard abs(shift) <= Self.longestShift else { return }
        for index in kept.indices { kept[index].position += shift }
        clock.shift(by: shift)
    }

    /// When the sample at a position was captured, in monotonic ns.
    private func captured(at position: Int64) -> UInt64 {
        kept.lazy.compactMap { $0.captured(at: position) }.first ?? SoundSamples.instant(at: position)
    }

    private func keep(_ samples: SoundSamples) {
        kept.append(samples)
        keptCount += samples.count
        while let first = kept.first, keptCount - first.count >= Self.memory {
            kept.removeFirst()
            keptCount -= first.count
        }
    }

    private func packeted(_ samples: SoundSamples) -> [AccessUnit] {
        guard let packets = sender?.packets.take(samples) else { return [] }
        return units(of: packets)
    }

    private func units(of packets: [SoundPacket]) -> [AccessUnit] {
        guard var sender else { return [] }
        defer { self.sender = sender }
        return packets.compactMap { packet in
            let (begin, encoder) = (MonotonicClock.now, sender.encoder)
            guard let bytes = encoder.encode(packet.samples, standsAlone: !sender.hasBegun),
                packet.samples.position >= sender.from
            else { return nil }
            sender.hasBegun = true
            var flags: UnitFlags = .key
            if packet.beginsSilence { flags.insert(.silence) }
            // The decoded sound is late by what the encoder looks ahead.
            let position = packet.samples.position - Int64(encoder.lookahead)
            return AccessUnit(
                UnitHeader(
                    track: Self.trackID,
                    pts: position * 125 / 6,
                    captured: captured(at: packet.samples.position),
                    encodeStart: begin,
                    encodeEnd: MonotonicClock.now,
                    flags: flags,
                    size: PictureSize(width: 0, height: 0),
                    level: packet.samples.level
                ),
                bytes
            )
        }
    }
}
