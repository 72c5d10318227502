/// Either end's record of the sessions' figures that a link's HEARTBEATs have carried so far.
///
/// A session with unchanged figures is sent as its id only. So a heartbeat with hundreds of resting sessions is short
/// and quick to read.
package struct HeartbeatDelta: Sendable {
    private var figures: [SessionID: SessionFigures] = [:]

    /// The most sessions in a heartbeat: as many as a device may have. Without it, an agent could name 300,000 sessions
    /// by their ids alone.
    private static let most = 1000

    package init() {}

    /// Returns the heartbeat to send, without the figures that the other end has.
    package mutating func shortened(_ heartbeat: Heartbeat) -> Heartbeat {
        let former: [SessionID: SessionFigures] = figures
        remember(heartbeat)
        var short = heartbeat
        short.sessions = heartbeat.sessions.filter { former[$0.session] != $0 }
        let unchanged = heartbeat.sessions.filter { former[$0.session] == $0 }.map(\.session)
        short.unchanged = unchanged.isEmpty ? nil : unchanged
        return short
    }

    /// Returns a received heartbeat with the figures of all sessions, ordered by their ids.
    ///
    /// A session that is said to be unchanged but was never sent is left out.
    package mutating func completed(_ short: Heartbeat) -> Heartbeat {
        let former: [SessionID: SessionFigures] = figures
        remember(short)
        for id in short.unchanged ?? [] where figures[id] == nil && figures.count < Self.most {
            figures[id] = former[id]
        }
        var heartbeat = short
        heartbeat.sessions = figures.values.sorted { $0.session < $1.session }
        heartbeat.unchanged = nil
        return heartbeat
    }

    private mutating func remember(_ heartbeat: Heartbeat) {
        figures = Dictionary(heartbeat.sessions.prefix(Self.most).map { ($0.session, $0) }) { $1 }
    }
}
