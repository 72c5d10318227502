import Wire

extension RelayMetrics {
    /// Which agents there are to feed sessions, and how sessions change between them.
    static func failOver(_ broadcasts: [Broadcast], _ sessions: [Session]) -> [MetricFamily] {
        standby(broadcasts) + feeds(sessions)
    }

    private static func standby(_ broadcasts: [Broadcast]) -> [MetricFamily] {
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

    private static func feeds(_ sessions: [Session]) -> [MetricFamily] {
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
            let labels = labels(device: session.device.name, session: session.id)
            let feeds = session.feed.feeds
            for cause in FeedSwitch.Cause.allCases {
                switches.add(Double(feeds.record.causes[cause] ?? 0), labels + [("cause", cause.rawValue)])
            }
            if let last = feeds.record.lastGap { gap.add(last.seconds, labels) }
            gaps.add(feeds.record.gaps, labels)
            stale.add(feeds.staleSince == nil ? 0 : 1, labels)
        }
        return [switches, gap, gaps, stale]
    }
}
