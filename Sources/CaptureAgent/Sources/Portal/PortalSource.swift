import Logging
import Wire

/// A monitor of the desktop, by its portal's consent.
struct PortalSource: FrameSource {
    let kind = "portal"
    let tokenFile: RestoreTokenFile
    /// How long a person has to answer the desktop's dialog, ns.
    let consentTimeout: UInt64
    let logger: Logger

    func run(into sink: any FrameSink, rate: SourceRate, stop: Event) throws(SourceError) {
        let began = MonotonicClock.now
        let portal = try ScreenCastPortal(stop: stop)
        defer { portal.close() }
        let grant = try portal.open(restoreToken: tokenFile.read(), consentTimeout: consentTimeout)
        save(grant.restoreToken)
        let descriptor = try portal.openPipeWireRemote()
        let granted = MonotonicClock.now

        let timings = ["portal": Double(granted - began) / 1e6]
        sink.sourceChanged(SourceStatus(state: .opening, timings: timings))
        let maximumRate = rate.maximum
        let stream = try PipeWireStream(descriptor: descriptor, node: grant.node, maximumRate: maximumRate, sink: sink)
        rate.observe { stream.changeMaximumRate($0) }
        if rate.maximum != maximumRate { stream.changeMaximumRate(rate.maximum) }
        defer {
            rate.observe(nil)
            stream.shutDown()
        }
        let wasClosed = portal.waitUntilClosed(or: [stop, stream.ended])
        if stop.isSet { return }
        if wasClosed {
            throw .lost(cause: "portal_closed", detail: "The desktop ended the screencast. It is asked for again.")
        }
        throw stream.ending ?? .lost(cause: "stream_error", detail: "The PipeWire stream ended.")
    }

    /// The portal took the old token; only the new one is of use.
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
