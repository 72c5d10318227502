import Fuzzing
import Media
import TestSupport
import Wire

/// Agents' packets other than access units, with improbable values.
struct Reports {
    private var random: SeededGenerator
    private let session: SessionID

    init(seed: UInt64, session: SessionID) {
        random = SeededGenerator(seed: seed)
        self.session = session
    }

    /// Returns the bytes of packets of that kind, and their number.
    mutating func bytes(_ report: Report, keyframe: Int64?) -> (bytes: [UInt8], count: Int) {
        switch report {
        case .heartbeat: return (Packet.heartbeat(heartbeat()).encoded(), 1)
        case .status: return (Packet.status(status()).encoded(), 1)
        case .sessionError:
            let code = random.pick(
                [.invalidParameters, .encoderUnavailable, .encoderRefused, .encoderFailed] as [SessionFailure.Code]
            )
            return (Packet.sessionError(session, SessionFailure(code: code, reason: text())).encoded(), 1)
        case .snapshot:
            let request = SnapshotRequest(
                id: UInt32(truncatingIfNeeded: random.extreme()),
                format: .jpeg,
                quality: 1,
                isFresh: false
            )
            return (Packet.snapshot(session, FuzzSnapshot.answer(to: request, by: &random)).encoded(), 1)
        case .encoders:
            let encoders = (0..<random.int(in: 0...300)).map { _ in
                EncoderReport(
                    name: text(),
                    codec: random.pick(Codec.allCases),
                    available: random.chance(0.5),
                    reason: text()
                )
            }
            return (Packet.encoders(EncoderReports(encoders: encoders)).encoded(), 1)
        case .rest: return (Packet.rest(session, rest(keyframe)).encoded(), 1)
        case .wake: return (Packet.wake(session).encoded(), 1)
        case .text: return (changedText(), 1)
        case .flood:
            let count = random.int(in: 100...3000)
            let packet = random.chance(0.5) ? Packet.wake(session) : .status(status())
            return ([[UInt8]](repeating: packet.encoded(), count: count).flatMap(\.self), count)
        }
    }

    private mutating func rest(_ keyframe: Int64?) -> Rest {
        let now = UInt64(monotonicNow())
        // Usually correct, because the session would otherwise never rest.
        let slot = random.chance(0.8) ? now + UInt64(random.int(in: 0...5_000_000_000)) : random.extreme()
        return Rest(
            keyframe: random.chance(0.9) ? keyframe ?? 0 : Int64(truncatingIfNeeded: random.extreme()),
            slot: slot,
            fps: random.chance(0.8) ? random.int(in: 1...240) : Int(truncatingIfNeeded: random.extreme()),
            keyframeInterval: random.chance(0.6) ? UInt64(random.int(in: 0...2_000_000_000)) : random.extreme()
        )
    }

    private mutating func status() -> SourceStatus {
        SourceStatus(
            state: random.pick([.opening, .streaming, .paused, .lost]),
            kind: random.chance(0.5) ? text() : nil,
            cause: random.chance(0.5) ? text() : nil,
            detail: random.chance(0.5) ? text() : nil,
            size: random.chance(0.5) ? PictureSize(width: number(), height: number()) : nil,
            orientation: random.chance(0.5) ? UInt8(random.int(in: 0...255)) : nil,
            timings: random.chance(0.5)
                ? [text(): random.pick([0, -1, 1e308, -1e308, .leastNonzeroMagnitude]), "openMs": 1e300] : nil
        )
    }

    private mutating func heartbeat() -> Heartbeat {
        let ids = (0..<random.int(in: 0...4)).map { _ in
            random.chance(0.7) ? session : UInt32(truncatingIfNeeded: random.extreme())
        }
        return Heartbeat(
            clock: random.extreme(),
            framesReceived: random.extreme(),
            buffersSkipped: random.extreme(),
            framesCopied: random.extreme(),
            linkQueuedBytes: number(),
            sessions: ids.map { figures($0) },
            unchanged: random.chance(0.3) ? ids : nil
        )
    }

    private mutating func figures(_ id: SessionID) -> SessionFigures {
        var counters = SessionCounters()
        let fields: [WritableKeyPath<SessionCounters, UInt64>] = [
            \.received, \.encodedLive, \.gated, \.latchedOver, \.poolDrops, \.errors, \.held, \.refined,
            \.reencodedRepeats,
            \.skipped, \.missed, \.keyframes, \.encoderRestarts, \.bytes,
        ]
        for field in fields { counters[keyPath: field] = random.extreme() }
        let counts = (0...LatencyHistogram.bounds.count).map { _ in random.extreme() }
        counters.encodeTimes = LatencyHistogram(counts: counts, sum: random.extreme()) ?? LatencyHistogram()
        return SessionFigures(
            session: id,
            encoder: text(),
            encoderReason: random.chance(0.5) ? text() : nil,
            repeatRefusal: random.chance(0.5) ? text() : nil,
            size: random.chance(0.5) ? PictureSize(width: number(), height: number()) : nil,
            counters: counters,
            linkDrops: random.extreme()
        )
    }

    /// The JSON of a packet, changed as text, in a packet of its own type or of another one.
    private mutating func changedText() -> [UInt8] {
        let samples = [
            Packet.heartbeat(heartbeat()), .status(status()), .rest(session, rest(nil)),
            .encoders(EncoderReports(encoders: [])),
        ].map { $0.encoded() }
        let sample = random.pick(samples)
        let words = ["null", "[", "{", "1e999", "-1", "18446744073709551616", "\\ud800", "\"", "0.1", "true", "\u{0}"]
        let body = Mutator(corpus: [Array(sample.dropFirst(PacketHeader.byteCount))], words: words).input(by: &random)
        var packet = Array(sample.prefix(PacketHeader.byteCount)) + body
        if random.chance(0.2) { packet[5] = UInt8(random.int(in: 64...127)) }
        for place in 0..<4 { packet[12 + place] = UInt8(body.count >> (24 - 8 * place) & 0xFF) }
        return packet
    }

    private mutating func number() -> Int { Int(truncatingIfNeeded: random.extreme()) }

    private mutating func text() -> String {
        random.pick([
            "", "x264", "portal_unavailable", String(repeating: "a", count: random.int(in: 1...5000)),
            "\u{0}\u{1}\"\\\n\r", "\u{202E}\u{FEFF}é",
            "<script>", "\u{1F4A9}", "{\"a\":1}", "%s%n",
        ])
    }
}
