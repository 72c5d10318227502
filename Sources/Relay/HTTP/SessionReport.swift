import Media
import NIOCore
import Wire

/// A session as the API shows it.
@MediaLoop
enum SessionReport {
    static func json(_ session: Session, of broadcast: Broadcast?) -> JSONValue {
        let request = session.request
        let (made, stream) = (session.source, session.stream)
        let agent = broadcast?.agent(made.current ?? .broadcast)
        let figures = agent?.heartbeats.figures(of: session.id)
        let size = stream.size
        let source = agent?.machine.agent?.status?.size
        return [
            "id": JSONValue(session.id),
            "device": .string(session.device.name),
            "label": JSONValue(request.label),
            "codec": .string(request.codec.rawValue),
            "framing": .string(request.framing.rawValue),
            "requestedEncoder": .string(request.encoder),
            "width": JSONValue(size?.width ?? request.size.width),
            "height": JSONValue(size?.height ?? request.size.height),
            "maxPixels": JSONValue(request.size.maxPixels),
            "fps": .integer(request.fps),
            "bitrate": .integer(request.bitrate),
            "repeat": .bool(request.repeat),
            "onDemand": .bool(request.onDemand),
            "join": .string(request.join.rawValue),
            "keyframeInterval": .number(request.keyframeInterval),
            "stillKeyframeInterval": .number(request.stillKeyframeInterval),
            "port": .integer(session.port),
            "ttl": JSONValue(request.ttl),
            "viewers": .integer(session.viewerCount),
            "encoder": figures.map(encoderName) ?? nil,
            "encoderReason": JSONValue(figures?.encoderReason),
            "repeatRefusal": JSONValue(figures?.repeatRefusal),
            "encoderRestarts": JSONValue(figures?.counters.encoderRestarts),
            "orientation": JSONValue(stream.orientation),
            "sourceWidth": JSONValue(source?.width),
            "sourceHeight": JSONValue(source?.height),
            "source": .string(stream.feed.rawValue),
            "asleep": .bool(!made.isDemanded),
            "stale": .bool(made.staleSince != nil),
            "staleSince": JSONValue(made.staleSince.map { BroadcastReport.wallClock(of: $0) }),
            "switches": .integer(made.switches.count),
            "switchCauses": .object(
                made.switches.causes.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                    .init(name: $0.key.rawValue, value: .integer($0.value))
                }
            ),
            "lastSwitchGapMs": JSONValue(made.switches.lastGap?.milliseconds.rounded(places: 1)),
            "createdAt": .string(session.created.apiText),
            "error": JSONValue(made.failure),
            "counters": ["agent": figures.map(agentCounters) ?? nil, "relay": relayCounters(session)],
            "rates": rates(agent?.heartbeats.rates(of: session.id)),
            "latency": latency(session),
        ]
    }

    /// Null until it is open.
    nonisolated static func encoderName(_ figures: SessionFigures) -> JSONValue {
        figures.encoder.isEmpty ? .null : .string(figures.encoder)
    }

    nonisolated static func agentCounters(_ figures: SessionFigures) -> JSONValue {
        let counters = figures.counters
        return [
            "received": JSONValue(counters.received),
            "encodedLive": JSONValue(counters.encodedLive),
            "gated": JSONValue(counters.gated),
            "latchedOver": JSONValue(counters.latchedOver),
            "poolDrops": JSONValue(counters.poolDrops),
            "errors": JSONValue(counters.errors),
            "held": JSONValue(counters.held),
            "refined": JSONValue(counters.refined),
            "reencodedRepeats": JSONValue(counters.reencodedRepeats),
            "skipped": JSONValue(counters.skipped),
            "missed": JSONValue(counters.missed),
            "keyframes": JSONValue(counters.keyframes),
            "bytes": JSONValue(counters.bytes),
            "encodeTimes": histogram(counters.encodeTimes),
            "linkDrops": JSONValue(figures.linkDrops),
        ]
    }

    nonisolated static func rates(_ rates: SessionRates?) -> JSONValue {
        guard let rates else { return nil }
        return [
            "encodedLive": .number(rates.encodedLive.rounded(places: 2)),
            "repeats": .number(rates.repeats.rounded(places: 2)),
            "pictures": .number(rates.pictures.rounded(places: 2)),
            "bitrate": .number(rates.bitrate.rounded(places: 0)),
            "encodeMs": JSONValue(rates.encodeMilliseconds?.rounded(places: 3)),
        ]
    }

    /// Percentiles of each stage; null where there is nothing of the last 10 s.
    private static func latency(_ session: Session) -> JSONValue {
        let (capture, now) = (session.source.captureLatency, NIODeadline.now())
        func percentiles(_ record: LatencyRecord) -> JSONValue {
            guard let percentiles = record.percentiles(now: now) else { return nil }
            func milliseconds(_ nanoseconds: UInt64) -> JSONValue {
                .number((Double(nanoseconds) / 1e6).rounded(places: 3))
            }
            return [
                "count": .integer(percentiles.count),
                "p50Ms": milliseconds(percentiles.p50),
                "p95Ms": milliseconds(percentiles.p95),
                "p99Ms": milliseconds(percentiles.p99),
            ]
        }
        return [
            "wait": percentiles(capture.wait),
            "encode": percentiles(capture.encode),
            "link": percentiles(capture.link),
            "captureToRelay": percentiles(capture.total),
            "handover": percentiles(session.handoverLatency.record),
            "captureToPresentation": percentiles(session.presentationLatency.record),
        ]
    }

    private nonisolated static func histogram(_ histogram: LatencyHistogram) -> JSONValue {
        [
            "count": JSONValue(histogram.count),
            "sumMs": .number((Double(histogram.sum) / 1e6).rounded(places: 1)),
            "boundsMs": .array(LatencyHistogram.bounds.map { .number(Double($0) / 1e6) }),
            "counts": .array(histogram.counts.map { JSONValue($0) }),
        ]
    }

    private static func relayCounters(_ session: Session) -> JSONValue {
        let (stream, delivered) = (session.stream, session.audience.delivered)
        return [
            "pictures": JSONValue(stream.pictures),
            "bytes": JSONValue(stream.bytes),
            "keyframes": JSONValue(stream.keyframes),
            "discarded": JSONValue(session.source.discarded),
            "captureToRelay": histogram(session.source.captureLatency.total.histogram),
            "captureToPresentation": histogram(session.presentationLatency.record.histogram),
            "presentationsRefused": JSONValue(session.presentationLatency.refused),
            "viewersAdmitted": JSONValue(session.audience.admitted),
            "viewersClosed": .object(
                ViewerClosure.allCases.map {
                    .init(name: $0.rawValue, value: JSONValue(session.audience.closed[$0] ?? 0))
                }
            ),
            "picturesOut": JSONValue(delivered.pictures),
            "bytesOut": JSONValue(delivered.bytes),
            "dropped": JSONValue(delivered.dropped),
            "resyncs": JSONValue(delivered.resyncs),
        ]
    }
}
