import HeliographAPI
import NIOCore

/// The statistics that a viewer gets each second.
struct ViewerStatistics {
    private static let interval = TimeAmount.seconds(1)

    private var last: NIODeadline
    private var pictures: UInt64
    private var bytes: UInt64

    @MediaLoop
    init(_ stream: SessionStream, now: NIODeadline) {
        (last, pictures, bytes) = (now, stream.pictures, stream.bytes)
    }

    /// Returns the event, once a second.
    ///
    /// - Parameters:
    ///   - session: The viewer's session.
    ///   - stream: What the viewer gets of it; the same as in the last call.
    @MediaLoop
    mutating func due(
        _ session: Session,
        _ stream: SessionStream,
        delivered: DeliveryCounters,
        behind: Int64?,
        now: NIODeadline
    ) -> JSONValue? {
        let elapsed = now - last
        guard elapsed >= Self.interval else { return nil }
        defer { (last, pictures, bytes) = (now, stream.pictures, stream.bytes) }
        let rate = Double(stream.pictures - pictures) / elapsed.seconds
        let bitrate = Double(stream.bytes - bytes) * 8 / elapsed.seconds
        return [
            "type": "stats",
            "fps": .number(rate.rounded(places: 2)),
            "bitrate": .number(bitrate.rounded(places: 0)),
            "viewers": .integer(session.viewerCount),
            "pictures": JSONValue(delivered.pictures),
            "bytes": JSONValue(delivered.bytes),
            "dropped": JSONValue(delivered.dropped),
            "resyncs": JSONValue(delivered.resyncs),
            "behindMs": JSONValue(behind.map { (Double($0) / 1000).rounded(places: 1) }),
        ]
    }
}
