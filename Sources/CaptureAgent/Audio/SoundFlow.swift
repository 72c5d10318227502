package import Media
package import Wire

/// Makes the tracks' units of captured sound, or keeps the last second while another agent sends.
package final class SoundFlow {
    /// The samples that are kept: 1 s.
    private static let memory = SoundSamples.rate

    /// How far the counts of two agents may be apart, in samples: 10 ms.
    private static let longestShift: Int64 = 480
    /// How far from now another agent's sound may have ended, in ns.
    private static let longestReach: UInt64 = .milliseconds(5_000)
    /// Half a sample, in ns.
    private static let halfSample: UInt64 = 10_416

    private let coding: SoundCoding
    private var isOn = false
    private var clock = SoundClock()
    private let resampler = SoundResampler()
    /// The last second of sound, in pieces as they came.
    private var kept: [SoundSamples] = []
    private var keptCount = 0
    /// One for each codec that the relay wants from this agent.
    private var senders: [SoundSender] = []

    package init(_ coding: SoundCoding) { self.coding = coding }

    /// The tracks that it makes. Units' times are those of the decoded sound, so there is nothing to discard at the
    /// start.
    package static let tracks = [
        OpusParameters(channels: UInt8(SoundSamples.channels), preSkip: 0).map { MediaTrack(id: 1, coding: .opus($0)) },
        MediaTrack(id: 2, coding: .aac(.stereo)),
    ].compactMap(\.self)

    /// Sends the codecs that an order wants, and ends others. A codec that is sent already goes on. What is kept of the
    /// sound since another agent has ended comes from ``catchUp()``.
    ///
    /// - Parameter now: Monotonic ns.
    package func send(_ order: Listen, now: UInt64) {
        isOn = true
        let wanted = order.wanted
        senders.removeAll { !wanted.contains($0.codec) }
        // Both codecs follow the other agent's count, which each of them tells.
        var isFollowing = false
        for track in Self.tracks {
            guard let codec = track.soundCodec, wanted.contains(codec), !senders.contains(where: { $0.codec == codec }),
                let encoder = try? codec.encoder(coding)
            else { continue }
            guard let end = order.end(of: codec), let begin = Self.instant(of: end.from, now: now) else {
                senders.append(SoundSender(codec, track, encoder, beginningAt: kept.last?.end ?? 0))
                continue
            }
            let position = SoundSamples.position(at: begin + Self.halfSample) + Int64(encoder.lookahead)
            if !isFollowing { follow(end.captured.flatMap { UInt64(exactly: $0) }, at: position) }
            isFollowing = true
            senders.append(SoundSender(codec, track, encoder, continuingAt: position))
        }
    }

    /// Converts µs to ns; `nil` for a time that cannot be. Older sound is not kept, and a later time is wrong.
    private static func instant(of time: Int64, now: UInt64) -> UInt64? {
        guard time >= 0 else { return nil }
        let instant = UInt64(time).multipliedReportingOverflow(by: 1000)
        let reach = now - min(now, longestReach)...now + longestReach
        return !instant.overflow && reach.contains(instant.partialValue) ? instant.partialValue : nil
    }

    /// Returns the next units of kept sound that another agent has not sent; `nil` if there are none left.
    ///
    /// It encodes one piece, so that captured samples never wait for a second of sound.
    package func catchUp() -> [AccessUnit]? {
        for sender in senders {
            guard let position = sender.backlog else { continue }
            guard let piece = kept.first(where: { $0.end > position }) else {
                sender.backlog = nil
                continue
            }
            sender.backlog = piece.end
            return sender.take(piece, captured: captured)
        }
        return nil
    }

    /// Keeps the last second from now on, and sends nothing.
    package func keep() { (isOn, senders) = (true, []) }

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
        var units: [AccessUnit] = []
        // What was before comes first.
        for sender in senders where sender.backlog == nil { units += sender.take(samples, captured: captured) }
        return units
    }

    /// Forgets all sound, and takes none until ``keep()`` or ``send(_:now:)``.
    package func stop() {
        (isOn, senders, kept, keptCount) = (false, [], [], 0)
        clock.stop()
    }

    /// Records that the source makes no sound, and returns the last units before the silence.
    package func idle() -> [AccessUnit] {
        clock.stop()
        var last: [AccessUnit] = []
        while let units = catchUp() { last += units }
        for sender in senders { last += sender.idle(captured: captured) }
        return last
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
        // It is nearly always among the last.
        for samples in kept.reversed() {
            if let captured = samples.captured(at: position) { return captured }
        }
        return SoundSamples.instant(at: position)
    }

    private func keep(_ samples: SoundSamples) {
        kept.append(samples)
        keptCount += samples.count
        while let first = kept.first, keptCount - first.count >= Self.memory {
            kept.removeFirst()
            keptCount -= first.count
        }
    }
}
