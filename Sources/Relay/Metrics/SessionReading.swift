import Media
import Wire

/// A session's figures at one moment.
struct SessionReading: Sendable {
    let labels: MetricFamily.Labels
    let (viewers, admitted): (Int, UInt64)
    let closed: [ViewerClosure: UInt64]
    let delivered: DeliveryCounters
    let (flows, isStale): (Bool, Bool)
    let (pictures, bytes, keyframes, discarded): (UInt64, UInt64, UInt64, UInt64)
    let switches: FeedSwitch.Record
    let (stillsRequested, stillsReceived): (UInt64, UInt64)
    let (captureToRelay, wait, encode, link): (LatencyHistogram, LatencyHistogram, LatencyHistogram, LatencyHistogram)
    let (handover, presentation): (LatencyHistogram, LatencyHistogram)
    let presentationsRefused: UInt64

    @MediaLoop
    init(_ session: Session) {
        labels = RelayMetrics.labels(device: session.device.name, session: session.id)
        (viewers, admitted) = (session.viewerCount, session.audience.admitted)
        closed = session.audience.closed
        delivered = session.delivered
        let feed = session.feed
        (flows, isStale) = (feed.flows, feed.feeds.staleSince != nil)
        (pictures, bytes, keyframes, discarded) = (feed.pictures, feed.bytes, feed.keyframes, feed.discarded)
        switches = feed.feeds.record
        (stillsRequested, stillsReceived) = (session.stills.requested, session.stills.received)
        let capture = session.captureLatency
        (captureToRelay, wait) = (capture.total.histogram, capture.wait.histogram)
        (encode, link) = (capture.encode.histogram, capture.link.histogram)
        handover = session.handoverLatency.record.histogram
        presentation = session.presentationLatency.record.histogram
        presentationsRefused = session.presentationLatency.refused
    }
}
