import FoundationEssentials
import HeliographAPI
import Media
import NIOCore
import Wire

extension SessionReport {
    /// Reads a session's figures. Encode the report on another thread.
    @MediaLoop
    init(_ session: Session, of broadcast: Broadcast?) {
        self.init(session.request)
        let (made, stream) = (session.source, session.stream)
        let agent = broadcast?.agent(made.current ?? .primary)
        let figures = agent?.heartbeats.figures(of: session.id)
        id = session.id
        device = session.device.name
        name = session.name
        state = session.state.rawValue
        width = stream.size?.width ?? width
        height = stream.size?.height ?? height
        port = session.port
        audioPort = session.soundPort
        viewers = session.viewerCount
        encoder = figures?.openEncoder
        encoderReason = figures?.encoderReason
        repeatRefusal = figures?.repeatRefusal
        encoderRestarts = figures?.counters.encoderRestarts
        orientation = stream.orientation
        let sourceSize = agent?.machine.agent?.status?.size
        (sourceWidth, sourceHeight) = (sourceSize?.width, sourceSize?.height)
        feed = stream.feed.rawValue
        asleep = !made.isDemanded
        stale = made.staleSince != nil
        staleSince = made.staleSince?.wallClockText
        switches = made.switches.count
        switchCauses = Dictionary(made.switches.causes.map { ($0.key.rawValue, $0.value) }) { $1 }
        lastSwitchGapMs = made.switches.lastGap?.milliseconds.rounded(places: 1)
        target = session.request.adapt == .fixed ? nil : Target(session)
        createdAt = session.created.apiText
        error = made.failure
        recording = session.request.record ? RecordingReport(session) : nil
        counters.agent = figures.map(AgentCounters.init)
        counters.relay = RelayCounters(session)
        rates = agent?.heartbeats.rates(of: session.id).map(RatesReport.init)
        latency = Latency(session)
    }

    private init(_ request: SessionRequest) {
        self.init()
        label = request.label
        codec = request.codec.rawValue
        chroma = request.chroma.rawValue
        framing = request.framing.rawValue
        requestedEncoder = request.encoder
        (width, height, maxPixels) = (request.width, request.height, request.maxPixels)
        fps = request.fps
        bitrate = request.bitrate
        (adapt, minBitrate) = (request.adapt.rawValue, request.minBitrate)
        `repeat` = request.repeat
        onDemand = request.onDemand
        record = request.record
        recordWhen = request.recordWhen.rawValue
        join = request.join.rawValue
        keyframeInterval = request.keyframeInterval
        staticKeyframeInterval = request.staticKeyframeInterval
        ttl = request.ttl
    }
}

extension SessionReport.Target {
    @MediaLoop
    fileprivate init(_ session: Session) {
        self.init()
        (bitrate, fps, maxPixels) = (session.encoded.bitrate, session.encoded.fps, session.encoded.maxPixels)
        followed = session.followedViewers
        smallSession = session.layers.small?.id
    }
}

extension BriefSession {
    @MediaLoop
    init(_ session: Session) {
        self.init()
        id = session.id
        device = session.device.name
        name = session.name
        label = session.request.label
        state = session.state.rawValue
        viewers = session.viewerCount
        port = session.port
    }
}

extension Session {
    /// The session's condition in one word.
    enum State: String {
        case live, waiting, asleep, stale
    }

    var state: State {
        if !source.isDemanded { return .asleep }
        if source.staleSince != nil { return .stale }
        return stream.feed == .none ? .waiting : .live
    }
}

extension RecordingReport {
    @MediaLoop
    fileprivate init(_ session: Session) {
        self.init()
        recording = session.recording
        guard let figures = session.recorder?.state else {
            (state, problem) = (State.waiting.rawValue, session.recordingProblem)
            if problem != nil { state = State.libraryError.rawValue }
            return
        }
        state = figures.failure?.word ?? (figures.item == nil ? State.waiting : .recording).rawValue
        item = figures.item.map { Int($0) }
        startedAt = figures.start.map { Date(timeIntervalSince1970: Double($0) / 1e6).apiText }
        seconds = (Double(figures.duration) / 1e6).rounded(places: 3)
        (bytes, files, gaps) = (figures.bytes, figures.files, figures.gaps)
        gapSeconds = (Double(figures.gapTime) / 1e6).rounded(places: 3)
        problem = figures.failure?.description
    }
}

extension SessionReport.Latency {
    @MediaLoop
    fileprivate init(_ session: Session) {
        self.init()
        let (capture, now) = (session.source.captureLatency, NIODeadline.now())
        func percentiles(_ record: LatencyRecord) -> PercentilesReport? {
            record.percentiles(now: now).map(PercentilesReport.init)
        }
        wait = percentiles(capture.wait)
        encode = percentiles(capture.encode)
        link = percentiles(capture.link)
        captureToRelay = percentiles(capture.total)
        handover = percentiles(session.handoverLatency.record)
        captureToPresentation = percentiles(session.presentationLatency.record)
    }
}

extension RelayCounters {
    @MediaLoop
    fileprivate init(_ session: Session) {
        self.init()
        let (stream, delivered, closed) = (session.stream, session.audience.delivered, session.audience.closed)
        pictures = UInt64(clamping: stream.pictures)
        bytes = UInt64(clamping: stream.bytes)
        keyframes = UInt64(clamping: stream.keyframes)
        discarded = UInt64(clamping: session.source.discarded)
        captureToRelay = HistogramReport(session.source.captureLatency.total.histogram)
        captureToPresentation = HistogramReport(session.presentationLatency.record.histogram)
        presentationsRefused = UInt64(clamping: session.presentationLatency.refused)
        viewersAdmitted = UInt64(clamping: session.audience.admitted)
        viewersClosed.stalled = UInt64(clamping: closed[.stalled] ?? 0)
        viewersClosed.slow = UInt64(clamping: closed[.slow] ?? 0)
        viewersClosed.memory = UInt64(clamping: closed[.memory] ?? 0)
        picturesOut = UInt64(clamping: delivered.pictures)
        bytesOut = UInt64(clamping: delivered.bytes)
        dropped = UInt64(clamping: delivered.dropped)
        resyncs = UInt64(clamping: delivered.resyncs)
    }
}

extension AgentCounters {
    init(_ figures: SessionFigures) {
        self.init()
        let counters = figures.counters
        received = counters.received
        encodedLive = counters.encodedLive
        gated = counters.gated
        latchedOver = counters.latchedOver
        poolDrops = counters.poolDrops
        errors = counters.errors
        held = counters.held
        refined = counters.refined
        reencodedRepeats = counters.reencodedRepeats
        skipped = counters.skipped
        missed = counters.missed
        keyframes = counters.keyframes
        bytes = counters.bytes
        encodeTimes = HistogramReport(counters.encodeTimes)
        linkDrops = figures.linkDrops
    }
}

extension SessionFigures {
    /// The encoder's name; `nil` until it is open.
    var openEncoder: String? { encoder.isEmpty ? nil : encoder }
}

extension RatesReport {
    init(_ rates: SessionRates) {
        self.init()
        encodedLive = rates.encodedLive.rounded(places: 2)
        repeats = rates.repeats.rounded(places: 2)
        pictures = rates.pictures.rounded(places: 2)
        bitrate = rates.bitrate.rounded(places: 0)
        encodeMs = rates.encodeMilliseconds?.rounded(places: 3)
    }
}

extension HistogramReport {
    private static let bounds = LatencyHistogram.bounds.map { Double($0) / 1e6 }

    fileprivate init(_ histogram: LatencyHistogram) {
        self.init()
        count = histogram.count
        sumMs = (Double(histogram.sum) / 1e6).rounded(places: 1)
        boundsMs = Self.bounds
        counts = histogram.counts
    }
}

extension PercentilesReport {
    fileprivate init(_ percentiles: LatencyWindow.Percentiles) {
        func milliseconds(_ nanoseconds: UInt64) -> Double { (Double(nanoseconds) / 1e6).rounded(places: 3) }
        self.init()
        count = percentiles.count
        p50Ms = milliseconds(percentiles.p50)
        p95Ms = milliseconds(percentiles.p95)
        p99Ms = milliseconds(percentiles.p99)
    }
}
