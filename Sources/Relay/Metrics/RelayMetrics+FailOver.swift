import Wire

extension RelayMetrics {
    /// Returns which agents are available to feed sessions.
    @MediaLoop
    static func standby(_ broadcasts: [Broadcast]) -> [MetricFamily] {
        var group = StandbyGroup()
        for broadcast in broadcasts {
            let device = broadcast.device.name
            group.up.add(broadcast.standby.link == nil ? 0 : 1, [device])
            group.restarts.add(Double(broadcast.standby.machine.restarts), [device])
            for role in AgentRole.allCases {
                for (cause, count) in broadcast.agent(role).losses.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    group.losses.add(Double(count), [device, role.rawValue, cause.rawValue])
                }
            }
        }
        return group.families
    }

    /// Returns how often sessions switch between agents.
    static func feeds(_ sessions: [SessionReading]) -> [MetricFamily] {
        var group = FeedGroup()
        for session in sessions {
            for cause in FeedSwitch.Cause.allCases {
                group.switches.add(Double(session.switches.causes[cause] ?? 0), session.labels + [cause.rawValue])
            }
            if let last = session.switches.lastGap { group.gap.add(last.seconds, session.labels) }
            group.gaps.add(session.switches.gaps, session.labels)
            group.stale.add(session.isStale ? 1 : 0, session.labels)
        }
        return group.families
    }
}
