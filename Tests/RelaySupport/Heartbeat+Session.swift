package import Media
package import Wire

extension Heartbeat {
    /// Creates the heartbeat of an agent that encodes one session.
    ///
    /// - Parameter clock: In monotonic ns.
    package init(
        session: SessionID,
        clock: UInt64 = 1,
        framesReceived: UInt64 = 0,
        encoderReason: String? = nil,
        counters: SessionCounters = SessionCounters()
    ) {
        let figures = SessionFigures(
            session: session,
            encoder: "x264",
            encoderReason: encoderReason,
            size: nil,
            counters: counters,
            linkDrops: 0
        )
        self.init(
            clock: clock,
            framesReceived: framesReceived,
            buffersSkipped: 0,
            framesCopied: 0,
            linkQueuedBytes: 0,
            sessions: [figures]
        )
    }
}
