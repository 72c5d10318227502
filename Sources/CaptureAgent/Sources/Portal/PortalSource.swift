import Logging
import Wire

/// A monitor or a window of the desktop, captured with the consent of its portal.
struct PortalSource: FrameSource {
    let kind = "portal"
    let content: ScreenContent
    let cursor: CursorDrawing
    let tokenFile: RestoreTokenFile
    /// How long a person may take to answer the desktop's dialog, in ns.
    let consentTimeout: UInt64
    let logger: Logger

    func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError) {
        let began = MonotonicClock.now
        let screen = try SourceError.explainingShortage { () throws(ResourceShortage) in try StaticScreenSink(sink) }
        let portal = try ScreenCastPortal(stop: stop)
        defer { portal.close() }
        let request = ScreenCastPortal.Request(
            content: content,
            cursor: cursor,
            restoreToken: tokenFile.read(),
            consentTimeout: consentTimeout
        )
        let grant = try portal.open(request) { sink.sourceChanged(Self.waitingForConsent) }
        save(grant.restoreToken)
        let descriptor = try portal.openPipeWireRemote()
        let granted = MonotonicClock.now

        let timings = ["portal": Double(granted - began) / 1e6]
        sink.sourceChanged(SourceStatus(state: .opening, timings: timings))
        let openingDemand = demand.value
        let stream = try PipeWireStream(
            PipeWireConnection(to: .descriptor(descriptor)),
            target: PipeWireTarget(node: grant.node, drawsPointer: cursor == .embedded),
            demand: openingDemand,
            sink: screen
        )
        defer { stream.shutDown() }
        try stream.deliver(demand, openedWith: openingDemand, until: stop) { events throws(SourceError) in
            guard content == .monitor else { return portal.waitUntilClosed(or: events) }
            return try StaticScreen(cursor: cursor, sink: screen).attend(
                stream,
                stop: stop,
                events: events,
                wait: portal.waitUntilClosed
            )
        }
    }

    private static let waitingForConsent = SourceStatus(
        state: .opening,
        cause: SourceStatus.waitingForConsent,
        detail:
            "The desktop asks which screen to share: answer its dialog. To need no dialog, see docs/guide/unattended.md."
    )

    /// Saves the new token. The portal has used up the old one.
    private func save(_ token: String?) {
        guard let token else { return tokenFile.remove() }
        if let failure = tokenFile.write(token) {
            logger.warning(
                "the portal's restore token could not be saved: the next start will ask again",
                metadata: ["reason": "\(failure)"]
            )
        }
    }
}
