/// The sessions' figures that a link's HEARTBEATs have told so far, at either end of it. A session whose figures are as they were is told of by its
/// id alone: of hundreds that rest a heartbeat is short, and read in no time.
package struct HeartbeatDelta: Sendable {
    private var figures: [SessionID: SessionFigures] = [:]

    /// Most sessions that are told of: as many as a device may have. An agent could name 300,000 in a heartbeat by their ids alone.
    private static let most = 1000

    package init() {}

    /// The heartbeat as it is sent: without figures that the other end has.
    package mutating func shortened(_ heartbeat: Heartbeat) -> Heartbeat {
        let former: [SessionID: SessionFigures] = figures
        remember(heartbeat)
        var short = heartbeat
        short.sessions = heartbeat.sessions.filter { former[$0.session] != $0 }
        let unchanged = heartbeat.sessions.filter { former[$0.session] == $0 }.map(\.session)
        short.unchanged = unchanged.isEmpty ? nil : unchanged
        return short
    }

    /// A heartbeat that came, with the figures of all sessions, ordered by their ids. One that is said to be unchanged and was never told of is left out.
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
