import HeliographAPI
import Media
import Wire

/// A session's figures at one moment.
struct SessionReading: Sendable {
    /// The values of the labels `device` and `session`.
    let labels: [String]
    let (viewers, admitted): (Int, UInt64)
    let closed: [ViewerClosure: UInt64]
    let delivered: DeliveryCounters
    /// The bit/s that the encoder may take.
    let targetBitrate: Int
    let (flows, isStale): (Bool, Bool)
    let (pictures, bytes, keyframes, discarded): (UInt64, UInt64, UInt64, UInt64)
    let switches: FeedSwitch.Record
    /// Whether a recording is being written, and what it has written and missed since it began; `nil` without one.
    let recording: RecordingFigures.State?
    let (snapshotsRequested, snapshotsReceived): (UInt64, UInt64)
    let (captureToRelay, wait, encode, link): (LatencyHistogram, LatencyHistogram, LatencyHistogram, LatencyHistogram)
    let (handover, presentation): (LatencyHistogram, LatencyHistogram)
    let presentationsRefused: UInt64

    @MediaLoop
    init(_ session: Session) {
        labels = [session.device.name, String(session.id)]
        (viewers, admitted) = (session.audience.count, session.audience.admitted)
        closed = session.audience.closed
        delivered = session.audience.delivered
        targetBitrate = session.encoded.bitrate
        let (source, stream) = (session.source, session.stream)
        (flows, isStale) = (source.flows, source.staleSince != nil)
        (pictures, bytes, keyframes) = (stream.pictures, stream.bytes, stream.keyframes)
        discarded = source.discarded
        switches = source.switches
        recording = session.recorder?.state
        (snapshotsRequested, snapshotsReceived) = (session.snapshots.requested, session.snapshots.received)
        let capture = source.captureLatency
        (captureToRelay, wait) = (capture.total.histogram, capture.wait.histogram)
        (encode, link) = (capture.encode.histogram, capture.link.histogram)
        handover = session.handoverLatency.record.histogram
        presentation = session.presentationLatency.record.histogram
        presentationsRefused = session.presentationLatency.refused
    }
}
