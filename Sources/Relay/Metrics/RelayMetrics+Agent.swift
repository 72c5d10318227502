import Media
package import Wire

extension RelayMetrics {
    /// A linked agent's last heartbeat.
    package struct AgentReading: Sendable {
        let device: String
        let role: AgentRole
        let heartbeat: Heartbeat

        package init(device: String, role: AgentRole, heartbeat: Heartbeat) {
            (self.device, self.role, self.heartbeat) = (device, role, heartbeat)
        }

        /// The values of the labels `device` and `role`.
        fileprivate var labels: [String] { [device, role.rawValue] }

        /// The values of the labels `device`, `role` and `session`.
        fileprivate func labels(of session: SessionID) -> [String] { labels + [String(session)] }
    }

    /// Returns the metrics from the linked agents' last heartbeats.
    package static func agent(_ readings: [AgentReading]) -> [MetricFamily] {
        func perDevice(
            _ name: String,
            _ kind: MetricFamily.Kind,
            _ help: String,
            _ value: (Heartbeat) -> Double
        ) -> MetricFamily {
            var family = MetricFamily("heliograph_agent_\(name)", kind, by: ["device", "role"], help)
            for reading in readings { family.add(value(reading.heartbeat), reading.labels) }
            return family
        }
        func perSession(
            _ name: String,
            _ kind: MetricFamily.Kind,
            _ help: String,
            _ value: (SessionFigures) -> Double
        ) -> MetricFamily {
            let labels = ["device", "role", "session"]
            var family = MetricFamily("heliograph_agent_\(name)", kind, by: labels, help)
            for reading in readings {
                for figures in reading.heartbeat.sessions {
                    family.add(value(figures), reading.labels(of: figures.session))
                }
            }
            return family
        }
        var encodeTimes = MetricFamily(
            "heliograph_agent_session_encode_seconds",
            .histogram,
            by: ["device", "role", "session"],
            "Time that scaling and encoding one picture took."
        )
        for reading in readings {
            for figures in reading.heartbeat.sessions {
                encodeTimes.add(figures.counters.encodeTimes, reading.labels(of: figures.session))
            }
        }
        return [
            perDevice("frames_received_total", .counter, "Frames that the source delivered.") {
                Double($0.framesReceived)
            },
            perDevice("buffers_skipped_total", .counter, "Buffers that came empty or marked as corrupted.") {
                Double($0.buffersSkipped)
            },
            perDevice("frames_copied_total", .counter, "Frames copied because the source had too few free buffers.") {
                Double($0.framesCopied)
            },
            perDevice("link_queued_bytes", .gauge, "Bytes that wait in the agent for the link.") {
                Double($0.linkQueuedBytes)
            },
            perSession("session_frames_received_total", .counter, "Frames offered to the session.") {
                Double($0.counters.received)
            },
            perSession("session_encoded_live_total", .counter, "Frames encoded.") { Double($0.counters.encodedLive) },
            perSession(
                "session_gated_total",
                .counter,
                "Frames that a newer one replaced while they waited for their slot."
            ) { Double($0.counters.gated) },
            perSession(
                "session_latched_over_total",
                .counter,
                "Frames that a newer one replaced while they waited for the encoder."
            ) { Double($0.counters.latchedOver) },
            perSession("session_pool_drops_total", .counter, "Frames dropped because no picture buffer was free.") {
                Double($0.counters.poolDrops)
            },
            perSession("session_held_frames", .gauge, "Frames waiting or being encoded.") { Double($0.counters.held) },
            perSession("session_errors_total", .counter, "Frames that could not be scaled or encoded.") {
                Double($0.counters.errors)
            },
            perSession("session_refined_total", .counter, "Repeats that the encoder made while the picture settled.") {
                Double($0.counters.refined)
            },
            perSession(
                "session_reencoded_repeats_total",
                .counter,
                "Repeats that the encoder made of a settled picture."
            ) {
                Double($0.counters.reencodedRepeats)
            },
            perSession("session_skipped_total", .counter, "Repeats made without the encoder.") {
                Double($0.counters.skipped)
            },
            perSession(
                "session_missed_total",
                .counter,
                "Times at which a picture was due and none came: the encoder was busy, late or failed."
            ) { Double($0.counters.missed) },
            perSession("session_keyframes_total", .counter, "Keyframes encoded.") { Double($0.counters.keyframes) },
            perSession(
                "session_encoder_restarts_total",
                .counter,
                "Encoders that failed in mid-stream and were replaced."
            ) { Double($0.counters.encoderRestarts) },
            perSession("session_encoded_bytes_total", .counter, "Bytes of access units encoded.") {
                Double($0.counters.bytes)
            },
            encodeTimes,
            perSession(
                "session_link_drops_total",
                .counter,
                "Access units dropped because the link was behind or no packet had room for them."
            ) { Double($0.linkDrops) },
        ]
    }
}
