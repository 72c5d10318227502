import Wire

extension RelayMetrics {
    /// Which agents there are to feed sessions.
    @MediaLoop
    static func standby(_ broadcasts: [Broadcast]) -> [MetricFamily] {
        var up = MetricFamily("heliograph_standby_up", .gauge, "Whether a standby is linked.")
        var restarts = MetricFamily(
            "heliograph_standby_restarts_total",
            .counter,
            "Standby restarts since the broadcast's start."
        )
        var losses = MetricFamily("heliograph_link_losses_total", .counter, "Agent links lost, stops aside.")
        for broadcast in broadcasts {
            let device = (name: "device", value: broadcast.device.name)
            up.add(broadcast.standby.link == nil ? 0 : 1, [device])
            restarts.add(Double(broadcast.standby.machine.restarts), [device])
            for role in AgentRole.allCases {
                for (cause, count) in broadcast.agent(role).losses.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    losses.add(Double(count), [device, ("role", role.rawValue), ("cause", cause.rawValue)])
                }
            }
        }
        return [up, restarts, losses]
    }

    /// How sessions change between agents.
    static func feeds(_ sessions: [SessionReading]) -> [MetricFamily] {
        var switches = MetricFamily("heliograph_session_feed_switches_total", .counter, "Changes to another agent.")
        var gap = MetricFamily(
            "heliograph_session_feed_gap_seconds",
            .gauge,
            "From the last picture before the last switch to the first one after it."
        )
        var gaps = MetricFamily(
            "heliograph_session_feed_switch_gap_seconds",
            .histogram,
            "The same of all switches."
        )
        var stale = MetricFamily("heliograph_session_stale", .gauge, "Whether viewers see a picture of the past.")
        for session in sessions {
            for cause in FeedSwitch.Cause.allCases {
                switches.add(Double(session.switches.causes[cause] ?? 0), session.labels + [("cause", cause.rawValue)])
            }
            if let last = session.switches.lastGap { gap.add(last.seconds, session.labels) }
            gaps.add(session.switches.gaps, session.labels)
            stale.add(session.isStale ? 1 : 0, session.labels)
        }
        return [switches, gap, gaps, stale]
    }
}
