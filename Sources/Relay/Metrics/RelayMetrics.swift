import NIOCore
import Wire

/// The relay's and the agents' figures for /metrics. docs/api.md lists them.
@MediaLoop
enum RelayMetrics {
    static func text(of switchboard: Switchboard) -> String {
        let broadcasts = switchboard.allBroadcasts
        let sessions = switchboard.sessions.all
        let families =
            relay(switchboard) + broadcast(broadcasts) + failOver(broadcasts, sessions) + agent(broadcasts)
            + session(sessions)
        return families.map(\.text).joined()
    }

    private static func relay(_ switchboard: Switchboard) -> [MetricFamily] {
        var info = MetricFamily("heliograph_relay_info", .gauge, "The relay's release.")
        info.add(1, [("release", Release.current)])
        var uptime = MetricFamily("heliograph_relay_uptime_seconds", .gauge, "Time since the relay started.")
        uptime.add((NIODeadline.now() - switchboard.started).seconds)
        var refused = MetricFamily("heliograph_agents_refused_total", .counter, "Agent links refused, by code.")
        for (code, count) in switchboard.refused.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            refused.add(Double(count), [("code", code.rawValue)])
        }
        return [info, uptime, refused]
    }

    private static func broadcast(_ broadcasts: [Broadcast]) -> [MetricFamily] {
        var state = MetricFamily("heliograph_broadcast_state", .gauge, "1 for the state that the broadcast is in.")
        var up = MetricFamily("heliograph_link_up", .gauge, "Whether an agent is linked.")
        var links = MetricFamily("heliograph_links_total", .counter, "Agent links admitted.")
        var bytes = MetricFamily("heliograph_link_received_bytes_total", .counter, "Bytes received on the agent link.")
        var restarts = MetricFamily(
            "heliograph_agent_restarts_total",
            .counter,
            "Agent restarts since the broadcast's start."
        )
        for broadcast in broadcasts {
            let labels = [(name: "device", value: broadcast.device.name)]
            for candidate in BroadcastMachine.State.allCases {
                state.add(candidate == broadcast.machine.state ? 1 : 0, labels + [("state", candidate.rawValue)])
            }
            up.add(broadcast.link == nil ? 0 : 1, labels)
            links.add(Double(broadcast.linksAdmitted), labels)
            restarts.add(Double(broadcast.machine.restarts), labels)
            if let link = broadcast.link { bytes.add(Double(link.bytesReceived), labels) }
        }
        return [state, up, links, bytes, restarts]
    }

    private static func session(_ sessions: [Session]) -> [MetricFamily] {
        func family(
            _ name: String,
            _ kind: MetricFamily.Kind,
            _ help: String,
            _ value: (Session) -> Double
        ) -> MetricFamily {
            var family = MetricFamily("heliograph_session_\(name)", kind, help)
            for session in sessions {
                family.add(value(session), labels(device: session.device.name, session: session.id))
            }
            return family
        }
        var captureLatency = MetricFamily(
            "heliograph_session_capture_to_relay_seconds",
            .histogram,
            "Time from a frame's capture to its access unit in the relay; no repeats."
        )
        for session in sessions {
            captureLatency.add(
                session.captureLatency.histogram,
                labels(device: session.device.name, session: session.id)
            )
        }
        return [
            captureLatency,
            family("viewers", .gauge, "Viewers now.") { Double($0.viewerCount) },
            family("viewers_admitted_total", .counter, "Viewers let in.") { Double($0.viewersAdmitted) },
            family("flowing", .gauge, "Whether pictures flow from an agent.") { $0.feed.flows ? 1 : 0 },
            family("access_units_in_total", .counter, "Access units taken from agents.") { Double($0.feed.pictures) },
            family("in_bytes_total", .counter, "Bytes of access units taken from agents.") { Double($0.feed.bytes) },
            family("keyframes_in_total", .counter, "Keyframes taken from agents.") { Double($0.feed.keyframes) },
            family("discarded_total", .counter, "Access units without a keyframe before them.") {
                Double($0.feed.discarded)
            },
            family("access_units_out_total", .counter, "Access units handed to viewers.") {
                Double($0.delivered.pictures)
            },
            family("out_bytes_total", .counter, "Bytes of access units handed to viewers.") {
                Double($0.delivered.bytes)
            },
            family("dropped_total", .counter, "Access units dropped for slow viewers.") {
                Double($0.delivered.dropped)
            },
            family("resyncs_total", .counter, "Slow viewers continued at a later keyframe.") {
                Double($0.delivered.resyncs)
            },
        ]
    }

    static func labels(device: String, session: SessionID) -> MetricFamily.Labels {
        [("device", device), ("session", String(session))]
    }
}
