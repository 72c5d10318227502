extension RelayMetrics {
    /// The families of every relay, without samples, in the order of docs/reference/metrics.md.
    package static var families: [MetricFamily] {
        let groups = [
            RelayGroup().families, ConnectionGroup().families, WebhookGroup().families, ReadinessGroup().families,
            BroadcastGroup().families, StandbyGroup().families, InputGroup().families,
            AudioGroup().families, LibraryGroup().families, FeedGroup().families,
            session([]), agent([]),
        ]
        return groups.flatMap { $0 }
    }

    /// The families of the relay itself.
    struct RelayGroup {
        var info = MetricFamily(
            "heliograph_relay_info",
            .gauge,
            by: ["release"],
            "Always 1. The label names the release."
        )
        var uptime = MetricFamily("heliograph_relay_uptime_seconds", .gauge, "Time since the relay started.")
        var agentsRefused = MetricFamily(
            "heliograph_agents_refused_total",
            .counter,
            by: ["code"],
            "Agent links that the relay refused, by the code of the REJECT."
        )
        var callsRefused = MetricFamily(
            "heliograph_calls_refused_total",
            .counter,
            by: ["code"],
            "Calls refused because of their key: its role, its devices or its rights; by code."
        )
        var acceptPauses = MetricFamily(
            "heliograph_accept_pauses_total",
            .counter,
            by: ["listener"],
            "Pauses of a listener that could not accept a connection."
        )
        var unread = MetricFamily(
            "heliograph_viewer_unread_bytes",
            .gauge,
            "Bytes that all viewers' connections together were handed and have not taken."
        )
        var turns = MetricFamily(
            "heliograph_media_loop_turn_cpu_seconds",
            .histogram,
            "Processor time of one turn of the media loop, which all devices share."
        )
        var longestTurn = MetricFamily(
            "heliograph_media_loop_longest_turn_cpu_seconds",
            .gauge,
            "Processor time of the longest turn of the media loop since the relay started."
        )

        var families: [MetricFamily] {
            [info, uptime, agentsRefused, callsRefused, acceptPauses, unread, turns, longestTurn]
        }
    }

    /// The families of the connections of callers and viewers.
    struct ConnectionGroup {
        var open = MetricFamily("heliograph_connections", .gauge, "Open connections of callers and viewers.")
        var refused = MetricFamily(
            "heliograph_connections_refused_total",
            .counter,
            by: ["reason"],
            "Connections that exceeded a limit, by reason."
        )
        var expiry = MetricFamily(
            "heliograph_tls_certificate_expiry_timestamp_seconds",
            .gauge,
            "When the relay's certificate expires. Absent without TLS."
        )

        var families: [MetricFamily] { [open, refused, expiry] }
    }

    /// The families of the webhooks.
    struct WebhookGroup {
        var events = MetricFamily(
            "heliograph_webhook_events_total",
            .counter,
            by: ["webhook", "outcome"],
            "Events for a webhook, by outcome."
        )
        var retries = MetricFamily(
            "heliograph_webhook_retries_total",
            .counter,
            by: ["webhook"],
            "Times that the relay sent an event to a webhook again."
        )

        var families: [MetricFamily] { [events, retries] }
    }

    /// The families that say whether the relay and its devices are ready.
    struct ReadinessGroup {
        var draining = MetricFamily("heliograph_relay_draining", .gauge, "1 while the relay drains.")
        var ready = MetricFamily(
            "heliograph_device_ready",
            .gauge,
            by: ["device"],
            "0 while the device should be broadcast and has no picture, else 1."
        )

        var families: [MetricFamily] { [draining, ready] }
    }

    /// The families of the broadcasts and their agents' links.
    struct BroadcastGroup {
        var state = MetricFamily(
            "heliograph_broadcast_state",
            .gauge,
            by: ["device", "state"],
            "1 for the state that the broadcast is in, 0 for the others."
        )
        var up = MetricFamily("heliograph_link_up", .gauge, by: ["device"], "1 while the broadcast's agent is linked.")
        var links = MetricFamily(
            "heliograph_links_total",
            .counter,
            by: ["device", "role"],
            "Agent links that the relay accepted."
        )
        var bytes = MetricFamily(
            "heliograph_link_received_bytes_total",
            .counter,
            by: ["device", "role"],
            "Bytes received on the agent's present link."
        )
        var malformed = MetricFamily(
            "heliograph_link_malformed_units_total",
            .counter,
            by: ["device", "role"],
            "Access units discarded because they do not begin with a NAL unit or have more than 1024."
        )
        var restarts = MetricFamily(
            "heliograph_agent_restarts_total",
            .counter,
            by: ["device"],
            "Restarts of the agent since the broadcast started."
        )

        var families: [MetricFamily] { [state, up, links, bytes, malformed, restarts] }
    }

    /// The families of the standbys, and of lost links.
    struct StandbyGroup {
        var up = MetricFamily("heliograph_standby_up", .gauge, by: ["device"], "1 while the standby is linked.")
        var restarts = MetricFamily(
            "heliograph_standby_restarts_total",
            .counter,
            by: ["device"],
            "Restarts of the standby since the broadcast started."
        )
        var losses = MetricFamily(
            "heliograph_link_losses_total",
            .counter,
            by: ["device", "role", "cause"],
            "Agent links lost, by cause. Stops do not count."
        )

        var families: [MetricFamily] { [up, restarts, losses] }
    }

    /// The families of callers' actions on screens.
    struct InputGroup {
        var orders = MetricFamily(
            "heliograph_input_orders_total",
            .counter,
            by: ["device", "outcome"],
            "Orders to act on the screen that agents were given, by outcome."
        )

        var families: [MetricFamily] { [orders] }
    }

    /// The families of devices' sound.
    struct AudioGroup {
        var packets = MetricFamily(
            "heliograph_audio_packets_total",
            .counter,
            by: ["device"],
            "Packets of the device's sound that went to sessions."
        )
        var bytes = MetricFamily("heliograph_audio_bytes_total", .counter, by: ["device"], "Bytes of these packets.")
        var discarded = MetricFamily(
            "heliograph_audio_discarded_total",
            .counter,
            by: ["device"],
            "Packets from an agent that does not send, or with a wrong time."
        )
        var switches = MetricFamily(
            "heliograph_audio_switches_total",
            .counter,
            by: ["device"],
            "How often another agent continued the sound."
        )

        var families: [MetricFamily] { [packets, bytes, discarded, switches] }
    }

    /// The families of the library. They have no samples before the library is opened.
    struct LibraryGroup {
        var items = MetricFamily("heliograph_library_items", .gauge, "Files in the library.")
        var bytes = MetricFamily("heliograph_library_bytes", .gauge, "Bytes of the library's files.")
        var free = MetricFamily("heliograph_library_free_bytes", .gauge, "Free bytes on the library's disk.")

        var families: [MetricFamily] { [items, bytes, free] }
    }

    /// The families of sessions' switches between agents.
    struct FeedGroup {
        var switches = MetricFamily(
            "heliograph_session_feed_switches_total",
            .counter,
            by: ["device", "session", "cause"],
            "Switches of the session to another agent, by cause."
        )
        var gap = MetricFamily(
            "heliograph_session_feed_gap_seconds",
            .gauge,
            by: ["device", "session"],
            "Time from the last picture before the latest switch to the first picture after it."
        )
        var gaps = MetricFamily(
            "heliograph_session_feed_switch_gap_seconds",
            .histogram,
            by: ["device", "session"],
            "Time from the last picture before a switch to the first picture after it."
        )
        var stale = MetricFamily(
            "heliograph_session_stale",
            .gauge,
            by: ["device", "session"],
            "1 while viewers see an old picture because no agent delivers."
        )

        var families: [MetricFamily] { [switches, gap, gaps, stale] }
    }
}
