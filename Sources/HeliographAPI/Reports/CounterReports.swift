/// The agent's counters for a session.
package struct AgentCounters: APIModel {
    package var received: UInt64 = 0
    package var encodedLive: UInt64 = 0
    package var gated: UInt64 = 0
    package var latchedOver: UInt64 = 0
    package var poolDrops: UInt64 = 0
    package var errors: UInt64 = 0
    package var held: UInt64 = 0
    package var refined: UInt64 = 0
    package var reencodedRepeats: UInt64 = 0
    package var skipped: UInt64 = 0
    package var missed: UInt64 = 0
    package var keyframes: UInt64 = 0
    package var bytes: UInt64 = 0
    package var encodeTimes = HistogramReport()
    package var linkDrops: UInt64 = 0

    package init() {}

    package static let schema = Schema.report(
        "AgentCounters",
        [
            Field("received", .count, "Frames: encodedLive + gated + latchedOver + poolDrops + errors + held."),
            Field("encodedLive", .count, "Frames encoded."),
            Field("gated", .count, "Frames replaced by a newer one before their slot."),
            Field("latchedOver", .count, "Frames replaced while the encoder was busy."),
            Field("poolDrops", .count, "Frames for which there was no memory."),
            Field("errors", .count, "Frames that failed."),
            Field("held", .count, "Frames that wait."),
            Field("refined", .count, "Repeats encoded while the picture settled."),
            Field("reencodedRepeats", .count, "Repeats encoded though it had settled."),
            Field("skipped", .count, "Repeats made without the encoder."),
            Field("missed", .count, "Slots without a picture, though the session repeats."),
            Field("keyframes", .count, "Keyframes."),
            Field("bytes", .count, "Bytes of all pictures."),
            Field("encodeTimes", HistogramReport.schema),
            Field("linkDrops", .count, "Access units dropped before the link."),
        ]
    )
}

/// The relay's counters for a session.
package struct RelayCounters: APIModel {
    package var pictures: UInt64 = 0
    package var bytes: UInt64 = 0
    package var keyframes: UInt64 = 0
    package var discarded: UInt64 = 0
    package var captureToRelay = HistogramReport()
    package var captureToPresentation = HistogramReport()
    package var presentationsRefused: UInt64 = 0
    package var viewersAdmitted: UInt64 = 0
    package var viewersClosed = ViewersClosed()
    package var picturesOut: UInt64 = 0
    package var bytesOut: UInt64 = 0
    package var dropped: UInt64 = 0
    package var resyncs: UInt64 = 0

    package init() {}

    package static let schema = Schema.report(
        "RelayCounters",
        [
            Field("pictures", .count, "Access units taken from agents, or made in their place."),
            Field("bytes", .count, "Their bytes."),
            Field("keyframes", .count, "Keyframes among them."),
            Field("discarded", .count, "Access units that came before a keyframe."),
            Field("captureToRelay", HistogramReport.schema),
            Field("captureToPresentation", HistogramReport.schema),
            Field("presentationsRefused", .count, "Impossible times of presentation."),
            Field("viewersAdmitted", .count, "Viewers so far."),
            Field("viewersClosed", ViewersClosed.schema, "Viewers whose connection the relay closed, by reason."),
            Field("picturesOut", .count, "Pictures handed to viewers."),
            Field("bytesOut", .count, "Their bytes, without framing."),
            Field("dropped", .count, "Pictures dropped for slow viewers."),
            Field("resyncs", .count, "How often a slow viewer continued at a later keyframe."),
        ]
    )

    /// The number of viewers whose connection the relay closed, by reason.
    package struct ViewersClosed: APIModel {
        package var stalled: UInt64 = 0
        package var slow: UInt64 = 0
        package var memory: UInt64 = 0

        package init() {}

        package static let schema = Schema.report(nil, ["stalled", "slow", "memory"].map { Field($0, .tally) })
    }
}

/// A histogram of a duration.
package struct HistogramReport: APIModel {
    package var count: UInt64 = 0
    package var sumMs = 0.0
    package var boundsMs: [Double] = []
    package var counts: [UInt64] = []

    package init() {}

    package static let schema = Schema.report(
        "Histogram",
        "How long something took.",
        [
            Field("count", .count, "How many were measured."),
            Field("sumMs", .figure, "Their sum, ms."),
            Field("boundsMs", .array(of: .figure), "Upper bounds, ms."),
            Field(
                "counts",
                .array(of: .tally),
                "How many took at most that bound and more than the one before; the last number is those that took longer."
            ),
        ]
    )
}

/// Rates of a session, per second.
package struct RatesReport: APIModel {
    package var encodedLive = 0.0
    package var repeats = 0.0
    package var pictures = 0.0
    package var bitrate = 0.0
    package var encodeMs: Double?

    package init() {}

    package static let schema = Schema.report(
        "Rates",
        "Between the last two heartbeats.",
        [
            Field("encodedLive", .figure, "Frames encoded per second."),
            Field("repeats", .figure, "Per second."),
            Field("pictures", .figure, "Both, per second."),
            Field("bitrate", .figure, "bit/s."),
            Field(
                "encodeMs",
                .figure.orNull,
                "Mean time of scaling and encoding a picture, ms; null if there was none."
            ),
        ]
    )
}

/// Percentiles of a latency.
package struct PercentilesReport: APIModel {
    package var count = 0
    package var p50Ms = 0.0
    package var p95Ms = 0.0
    package var p99Ms = 0.0

    package init() {}

    package static let schema = Schema.report(
        "Percentiles",
        "Up to 6.25 % too high.",
        [
            Field("count", .count, "Of samples."), Field("p50Ms", .figure, "ms."), Field("p95Ms", .figure, "ms."),
            Field("p99Ms", .figure, "ms."),
        ]
    )
}

extension Schema {
    /// The schema of a count that needs no description.
    static let tally = Schema(Schema.count.form, named: "Count")
}
