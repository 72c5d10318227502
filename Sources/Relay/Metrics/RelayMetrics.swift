import FoundationEssentials
import HeliographAPI
import Library
import Media
import NIOCore
import Program
import Wire

/// The figures for /metrics at one moment, of the relay and its agents. docs/reference/metrics.md lists them.
///
/// They are read on the media loop and written as text elsewhere: for hundreds of sessions that takes longer than
/// pictures may wait.
package struct RelayMetrics: Sendable {
    /// The metrics without samples per session.
    private let relay: [MetricFamily]
    private let heartbeats: [AgentReading]
    private let sessions: [SessionReading]

    /// Reads the relay's figures.
    ///
    /// - Parameter tls: The TLS server; `nil` without encryption.
    @MediaLoop
    init(of switchboard: Switchboard, access: AccessControl, tls: TLSServer?) {
        let broadcasts = switchboard.allBroadcasts
        relay =
            Self.relay(switchboard, access) + Self.webhooks(switchboard.webhooks)
            + Self.connections(switchboard.connections, tls)
            + Self.readiness(Readiness(of: switchboard)) + Self.broadcast(broadcasts) + Self.standby(broadcasts)
            + Self.input(broadcasts) + Self.audio(broadcasts) + Self.library(switchboard.recordings)
        heartbeats = broadcasts.flatMap { broadcast in
            AgentRole.allCases.compactMap { role in
                broadcast.agent(role).heartbeats.latest.map {
                    AgentReading(device: broadcast.device.name, role: role, heartbeat: $0)
                }
            }
        }
        sessions = switchboard.sessions.all.map(SessionReading.init)
    }

    /// The figures in Prometheus' text format.
    var text: String {
        (relay + Self.feeds(sessions) + Self.agent(heartbeats) + Self.session(sessions)).map(\.text).joined()
    }

    @MediaLoop
    private static func relay(_ switchboard: Switchboard, _ access: AccessControl) -> [MetricFamily] {
        var group = RelayGroup()
        group.info.add(1, [Release.current])
        group.uptime.add((NIODeadline.now() - switchboard.started).seconds)
        for (code, count) in switchboard.refused.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            group.agentsRefused.add(Double(count), [code.rawValue])
        }
        for (code, count) in access.refusals.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            group.callsRefused.add(Double(count), [code.rawValue])
        }
        for listener in AcceptPauses.Listener.allCases {
            group.acceptPauses.add(Double(switchboard.acceptPauses.count(of: listener)), [listener.rawValue])
        }
        group.unread.add(Double(switchboard.viewerBytes))
        let figures = MediaLoop.turns.figures
        group.turns.add(figures.turns)
        group.longestTurn.add(Double(figures.longest) / 1e9)
        return group.families
    }

    private static func webhooks(_ webhooks: Webhooks) -> [MetricFamily] {
        var group = WebhookGroup()
        for (name, tally) in webhooks.figures {
            group.events.add(Double(tally.taken), [name, "taken"])
            group.events.add(Double(tally.refused), [name, "refused"])
            group.events.add(Double(tally.abandoned), [name, "abandoned"])
            group.events.add(Double(tally.missed), [name, "missed"])
            group.retries.add(Double(tally.retries), [name])
        }
        return group.families
    }

    private static func connections(_ connections: Connections, _ tls: TLSServer?) -> [MetricFamily] {
        var group = ConnectionGroup()
        group.open.add(Double(connections.count))
        for reason in Connections.Refusal.allCases {
            group.refused.add(Double(connections.refusals(because: reason)), [reason.rawValue])
        }
        if let tls { group.expiry.add(tls.description.expires.timeIntervalSince1970) }
        return group.families
    }

    @MediaLoop
    private static func readiness(_ readiness: Readiness) -> [MetricFamily] {
        var group = ReadinessGroup()
        group.draining.add(readiness.isDraining ? 1 : 0)
        for device in readiness.devices { group.ready.add(device.obstacle == nil ? 1 : 0, [device.name]) }
        return group.families
    }

    @MediaLoop
    private static func broadcast(_ broadcasts: [Broadcast]) -> [MetricFamily] {
        var group = BroadcastGroup()
        for broadcast in broadcasts {
            let device = broadcast.device.name
            for candidate in AgentLifecycle.State.allCases {
                group.state.add(candidate == broadcast.machine.state ? 1 : 0, [device, candidate.rawValue])
            }
            group.up.add(broadcast.link == nil ? 0 : 1, [device])
            group.restarts.add(Double(broadcast.machine.restarts), [device])
            for role in AgentRole.allCases {
                let (agent, labels) = (broadcast.agent(role), [device, role.rawValue])
                group.links.add(Double(agent.linksAdmitted), labels)
                group.malformed.add(Double(agent.malformedUnits), labels)
                if let link = agent.link { group.bytes.add(Double(link.bytesReceived), labels) }
            }
        }
        return group.families
    }

    @MediaLoop
    private static func input(_ broadcasts: [Broadcast]) -> [MetricFamily] {
        var group = InputGroup()
        for broadcast in broadcasts {
            for (outcome, count) in broadcast.inputs.ended.sorted(by: { $0.key < $1.key }) {
                group.orders.add(Double(count), [broadcast.device.name, outcome])
            }
        }
        return group.families
    }

    @MediaLoop
    private static func audio(_ broadcasts: [Broadcast]) -> [MetricFamily] {
        var group = AudioGroup()
        for broadcast in broadcasts where broadcast.device.sound != .off {
            let (sound, device) = (broadcast.sound, broadcast.device.name)
            group.packets.add(Double(sound.packets), [device])
            group.bytes.add(Double(sound.bytes), [device])
            group.discarded.add(Double(sound.discarded), [device])
            group.switches.add(Double(sound.switches), [device])
        }
        return group.families
    }

    @MediaLoop
    private static func library(_ recordings: Recordings) -> [MetricFamily] {
        var group = LibraryGroup()
        if let usage = recordings.usage {
            group.items.add(Double(usage.totals.items))
            group.bytes.add(Double(usage.totals.bytes))
            group.free.add(Double(usage.free))
        }
        return group.families
    }

    /// The families of recordings. Sessions that are not recorded have no samples.
    private static func recordings(_ sessions: [SessionReading]) -> [MetricFamily] {
        func family(
            _ name: String,
            _ kind: MetricFamily.Kind,
            _ help: String,
            _ value: (RecordingFigures.State) -> Double
        ) -> MetricFamily {
            var family = MetricFamily("heliograph_session_recording_\(name)", kind, by: ["device", "session"], help)
            for session in sessions {
                if let figures = session.recording { family.add(value(figures), session.labels) }
            }
            return family
        }
        return [
            family("active", .gauge, "1 while the recorded session is written to a file.") { $0.item == nil ? 0 : 1 },
            family("failing", .gauge, "1 while the recorded session cannot be written.") { $0.failure == nil ? 0 : 1 },
            family("files_total", .counter, "Files begun.") { Double($0.files) },
            family("gaps_total", .counter, "Times that pictures are missing in a file.") { Double($0.gaps) },
            family("gap_seconds_total", .counter, "How long pictures are missing in files.") {
                Double($0.gapTime) / 1e6
            },
        ]
    }

    static func session(_ sessions: [SessionReading]) -> [MetricFamily] {
        func family(
            _ name: String,
            _ kind: MetricFamily.Kind,
            _ help: String,
            _ value: (SessionReading) -> Double
        ) -> MetricFamily {
            var family = MetricFamily("heliograph_session_\(name)", kind, by: ["device", "session"], help)
            for session in sessions {
                family.add(value(session), session.labels)
            }
            return family
        }
        var closed = MetricFamily(
            "heliograph_session_viewers_closed_total",
            .counter,
            by: ["device", "session", "reason"],
            "Viewers whose connection the relay closed, by reason."
        )
        for session in sessions {
            for reason in ViewerClosure.allCases {
                closed.add(Double(session.closed[reason] ?? 0), session.labels + [reason.rawValue])
            }
        }
        return latencies(sessions) + recordings(sessions) + [
            family("viewers", .gauge, "Viewers now.") { Double($0.viewers) },
            family("target_bitrate", .gauge, "The bit/s that the encoder may take.") { Double($0.targetBitrate) },
            family("viewers_admitted_total", .counter, "Viewers admitted.") { Double($0.admitted) },
            closed,
            family("flowing", .gauge, "1 while pictures flow from an agent.") { $0.flows ? 1 : 0 },
            family("access_units_in_total", .counter, "Access units received from agents.") { Double($0.pictures) },
            family("in_bytes_total", .counter, "Bytes of access units received from agents.") { Double($0.bytes) },
            family("keyframes_in_total", .counter, "Keyframes received from agents.") { Double($0.keyframes) },
            family(
                "discarded_total",
                .counter,
                "Access units dropped because no keyframe preceded them or another agent was the feed."
            ) { Double($0.discarded) },
            family("access_units_out_total", .counter, "Access units handed to viewers.") {
                Double($0.delivered.pictures)
            },
            family("out_bytes_total", .counter, "Bytes of access units handed to viewers.") {
                Double($0.delivered.bytes)
            },
            family("dropped_total", .counter, "Access units dropped because a viewer was slow.") {
                Double($0.delivered.dropped)
            },
            family("snapshots_requested_total", .counter, "Snapshots requested from agents.") {
                Double($0.snapshotsRequested)
            },
            family("snapshots_in_total", .counter, "Snapshots received from agents.") { Double($0.snapshotsReceived) },
            family("resyncs_total", .counter, "Times that a slow viewer continued at a later keyframe.") {
                Double($0.delivered.resyncs)
            },
        ]
    }

    private static func latencies(_ sessions: [SessionReading]) -> [MetricFamily] {
        func family(_ name: String, _ help: String, _ histogram: (SessionReading) -> LatencyHistogram) -> MetricFamily {
            let labels = ["device", "session"]
            var family = MetricFamily("heliograph_session_\(name)_seconds", .histogram, by: labels, help)
            for session in sessions {
                family.add(histogram(session), session.labels)
            }
            return family
        }
        var refused = MetricFamily(
            "heliograph_session_presentations_refused_total",
            .counter,
            by: ["device", "session"],
            "Presentation times that viewers reported and that are impossible."
        )
        for session in sessions {
            refused.add(Double(session.presentationsRefused), session.labels)
        }
        return [
            family(
                "capture_to_relay",
                "Time from a frame's capture until the relay has its access unit. Repeats do not count."
            ) { $0.captureToRelay },
            family("wait", "Time from a frame's capture to the start of its encoding. Repeats do not count.") {
                $0.wait
            },
            family("encode", "Time from the start to the end of a frame's encoding. Repeats do not count.") {
                $0.encode
            },
            family(
                "link",
                "Time from the end of a frame's encoding until the relay has its access unit. Repeats do not count."
            ) { $0.link },
            family("handover", "Time from the relay to a viewer's connection, for each viewer.") {
                $0.handover
            },
            family("capture_to_presentation", "Time from a frame's capture to its presentation, as viewers report.") {
                $0.presentation
            },
            refused,
        ]
    }
}
