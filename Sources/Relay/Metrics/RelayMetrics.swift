import FoundationEssentials
import HeliographAPI
import Media
import NIOCore
import Program
import Wire

/// The relay's and the agents' figures for /metrics, as they are at one moment. docs/api.md lists them.
///
/// They are read on the media loop and made a text of elsewhere: for hundreds of sessions that takes longer than pictures may wait.
package struct RelayMetrics: Sendable {
    /// What has no sample for each session.
    private let relay: [MetricFamily]
    private let heartbeats: [AgentReading]
    private let sessions: [SessionReading]

    /// - Parameter tls: Nil where nothing is encrypted.
    @MediaLoop
    init(of switchboard: Switchboard, access: AccessControl, tls: TLSServer?) {
        let broadcasts = switchboard.allBroadcasts
        relay =
            Self.relay(switchboard, access) + Self.connections(switchboard.connections, tls)
            + Self.readiness(Readiness(of: switchboard)) + Self.broadcast(broadcasts) + Self.standby(broadcasts)
        heartbeats = broadcasts.flatMap { broadcast in
            AgentRole.allCases.compactMap { role in
                broadcast.agent(role).heartbeats.latest.map {
                    AgentReading(device: broadcast.device.name, role: role, heartbeat: $0)
                }
            }
        }
        sessions = switchboard.sessions.all.map(SessionReading.init)
    }

    /// In Prometheus' text format.
    var text: String {
        (relay + Self.feeds(sessions) + Self.agent(heartbeats) + Self.session(sessions)).map(\.text).joined()
    }

    @MediaLoop
    private static func relay(_ switchboard: Switchboard, _ access: AccessControl) -> [MetricFamily] {
        var info = MetricFamily("heliograph_relay_info", .gauge, "The relay's release.")
        info.add(1, [("release", Release.current)])
        var uptime = MetricFamily("heliograph_relay_uptime_seconds", .gauge, "Time since the relay started.")
        uptime.add((NIODeadline.now() - switchboard.started).seconds)
        var refused = MetricFamily("heliograph_agents_refused_total", .counter, "Agent links refused, by code.")
        for (code, count) in switchboard.refused.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            refused.add(Double(count), [("code", code.rawValue)])
        }
        var pauses = MetricFamily(
            "heliograph_accept_pauses_total",
            .counter,
            "Times that a listener paused because it could not accept a connection."
        )
        for listener in AcceptPauses.Listener.allCases {
            pauses.add(Double(switchboard.acceptPauses.count(of: listener)), [("listener", listener.rawValue)])
        }
        var unread = MetricFamily(
            "heliograph_viewer_unread_bytes",
            .gauge,
            "Bytes that all viewers' connections were handed and have not taken."
        )
        unread.add(Double(switchboard.viewerBytes))
        let figures = MediaLoop.turns.figures
        var turns = MetricFamily(
            "heliograph_media_loop_turn_cpu_seconds",
            .histogram,
            "Processor time of a turn of the media loop, which all devices share."
        )
        turns.add(figures.turns)
        var longestTurn = MetricFamily(
            "heliograph_media_loop_longest_turn_cpu_seconds",
            .gauge,
            "Processor time of the media loop's longest turn since the relay started."
        )
        longestTurn.add(Double(figures.longest) / 1e9)
        var calls = MetricFamily(
            "heliograph_calls_refused_total",
            .counter,
            "Calls refused for want of a key, by code."
        )
        for (code, count) in access.refusals.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            calls.add(Double(count), [("code", code.rawValue)])
        }
        return [info, uptime, refused, calls, pauses, unread, turns, longestTurn]
    }

    private static func connections(_ connections: Connections, _ tls: TLSServer?) -> [MetricFamily] {
        var open = MetricFamily("heliograph_connections", .gauge, "Connections of callers and viewers.")
        open.add(Double(connections.count))
        var refused = MetricFamily(
            "heliograph_connections_refused_total",
            .counter,
            "Connections that there was no place for, by reason."
        )
        for reason in Connections.Refusal.allCases {
            refused.add(Double(connections.refusals(because: reason)), [("reason", reason.rawValue)])
        }
        var expiry = MetricFamily(
            "heliograph_tls_certificate_expiry_timestamp_seconds",
            .gauge,
            "When the certificate that is served ends, since 1970."
        )
        if let tls { expiry.add(tls.description.expires.timeIntervalSince1970) }
        return [open, refused, expiry]
    }

    @MediaLoop
    private static func readiness(_ readiness: Readiness) -> [MetricFamily] {
        var draining = MetricFamily("heliograph_relay_draining", .gauge, "Whether the relay takes nobody new.")
        draining.add(readiness.isDraining ? 1 : 0)
        var ready = MetricFamily(
            "heliograph_device_ready",
            .gauge,
            "Whether a device that is to be broadcast has a picture; 1 for one that is not."
        )
        for device in readiness.devices { ready.add(device.obstacle == nil ? 1 : 0, [("device", device.name)]) }
        return [draining, ready]
    }

    @MediaLoop
    private static func broadcast(_ broadcasts: [Broadcast]) -> [MetricFamily] {
        var state = MetricFamily("heliograph_broadcast_state", .gauge, "1 for the state that the broadcast is in.")
        var up = MetricFamily("heliograph_link_up", .gauge, "Whether an agent is linked.")
        var links = MetricFamily("heliograph_links_total", .counter, "Agent links admitted.")
        var bytes = MetricFamily("heliograph_link_received_bytes_total", .counter, "Bytes received on the agent link.")
        var malformed = MetricFamily(
            "heliograph_link_malformed_units_total",
            .counter,
            "Access units discarded because they do not begin with a NAL unit, or have too many."
        )
        var restarts = MetricFamily(
            "heliograph_agent_restarts_total",
            .counter,
            "Agent restarts since the broadcast's start."
        )
        for broadcast in broadcasts {
            let labels = [(name: "device", value: broadcast.device.name)]
            for candidate in AgentLifecycle.State.allCases {
                state.add(candidate == broadcast.machine.state ? 1 : 0, labels + [("state", candidate.rawValue)])
            }
            up.add(broadcast.link == nil ? 0 : 1, labels)
            restarts.add(Double(broadcast.machine.restarts), labels)
            for role in AgentRole.allCases {
                let (agent, labels) = (broadcast.agent(role), labels + [(name: "role", value: role.rawValue)])
                links.add(Double(agent.linksAdmitted), labels)
                malformed.add(Double(agent.malformedUnits), labels)
                if let link = agent.link { bytes.add(Double(link.bytesReceived), labels) }
            }
        }
        return [state, up, links, bytes, malformed, restarts]
    }

    private static func session(_ sessions: [SessionReading]) -> [MetricFamily] {
        func family(
            _ name: String,
            _ kind: MetricFamily.Kind,
            _ help: String,
            _ value: (SessionReading) -> Double
        ) -> MetricFamily {
            var family = MetricFamily("heliograph_session_\(name)", kind, help)
            for session in sessions {
                family.add(value(session), session.labels)
            }
            return family
        }
        var closed = MetricFamily(
            "heliograph_session_viewers_closed_total",
            .counter,
            "Viewers whose connection the relay closed, by reason."
        )
        for session in sessions {
            for reason in ViewerClosure.allCases {
                closed.add(
                    Double(session.closed[reason] ?? 0),
                    session.labels + [("reason", reason.rawValue)]
                )
            }
        }
        return latencies(sessions) + [
            family("viewers", .gauge, "Viewers now.") { Double($0.viewers) },
            family("viewers_admitted_total", .counter, "Viewers let in.") { Double($0.admitted) },
            closed,
            family("flowing", .gauge, "Whether pictures flow from an agent.") { $0.flows ? 1 : 0 },
            family("access_units_in_total", .counter, "Access units taken from agents.") { Double($0.pictures) },
            family("in_bytes_total", .counter, "Bytes of access units taken from agents.") { Double($0.bytes) },
            family("keyframes_in_total", .counter, "Keyframes taken from agents.") { Double($0.keyframes) },
            family("discarded_total", .counter, "Access units without a keyframe before them.") {
                Double($0.discarded)
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
            family("snapshots_requested_total", .counter, "Snapshots asked of agents.") {
                Double($0.snapshotsRequested)
            },
            family("snapshots_in_total", .counter, "Snapshots taken from agents.") { Double($0.snapshotsReceived) },
            family("resyncs_total", .counter, "Slow viewers continued at a later keyframe.") {
                Double($0.delivered.resyncs)
            },
        ]
    }

    private static func latencies(_ sessions: [SessionReading]) -> [MetricFamily] {
        func family(_ name: String, _ help: String, _ histogram: (SessionReading) -> LatencyHistogram) -> MetricFamily {
            var family = MetricFamily("heliograph_session_\(name)_seconds", .histogram, help)
            for session in sessions {
                family.add(histogram(session), session.labels)
            }
            return family
        }
        var refused = MetricFamily(
            "heliograph_session_presentations_refused_total",
            .counter,
            "Instants of presentation that viewers told and that cannot be."
        )
        for session in sessions {
            refused.add(
                Double(session.presentationsRefused),
                session.labels
            )
        }
        return [
            family("capture_to_relay", "Time from a frame's capture to its access unit in the relay; no repeats.") {
                $0.captureToRelay
            },
            family("wait", "Time from a frame's capture to the beginning of its encoding; no repeats.") {
                $0.wait
            },
            family("encode", "Time from there to the encoding's end.") { $0.encode },
            family("link", "Time from there to the relay.") { $0.link },
            family("handover", "Time from the relay to a viewer's connection, for each viewer.") {
                $0.handover
            },
            family("capture_to_presentation", "Time from a frame's capture to its presentation, as viewers tell.") {
                $0.presentation
            },
            refused,
        ]
    }

    static func labels(device: String, session: SessionID) -> MetricFamily.Labels {
        [("device", device), ("session", String(session))]
    }
}
