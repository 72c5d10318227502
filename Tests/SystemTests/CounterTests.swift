import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests that the figures are right on a real desktop that moves, is static, and changes between the two.
    @Suite("Counters")
    struct CounterTests {
        private typealias Object = RelayProcess.Object

        /// A session's figures in one answer of the status.
        private struct Sample {
            let agent: Object
            let relay: Object

            init(_ session: Object) {
                agent = session.object("counters").object("agent")
                relay = session.object("counters").object("relay")
            }

            var encoderCalls: Int { sum(agent, "encodedLive", "refined", "reencodedRepeats") }
            var pictures: Int { encoderCalls + agent.integer("skipped") }

            private func sum(_ object: Object, _ names: String...) -> Int {
                names.reduce(0) { $0 + object.integer($1) }
            }

            /// How the figures contradict the documentation.
            var faults: [String] {
                let fates = sum(agent, "encodedLive", "gated", "latchedOver", "poolDrops", "errors", "held")
                let times = agent.object("encodeTimes")
                let arrivals = relay.object("captureToRelay")
                return [
                    (agent.integer("received") == fates, "received is the sum of what became of the frames"),
                    ((0...2).contains(agent.integer("held")), "at most two are held"),
                    (times.integer("count") == encoderCalls, "each encoder call has its time"),
                    (times.total("counts") == encoderCalls, "in one of the buckets"),
                    (arrivals.integer("count") == arrivals.total("counts"), "each arrival is in one of the buckets"),
                    (arrivals.integer("count") <= relay.integer("pictures"), "and is a picture's"),
                ].filter { !$0.0 }.map(\.1)
            }

            /// Whether agent and relay have counted the same access units. A picture that was made after the heartbeat
            /// makes a difference.
            var isBalanced: Bool {
                pictures == relay.integer("pictures") + agent.integer("linkDrops")
                    && ["bytes", "keyframes"].allSatisfy { agent.integer($0) == relay.integer($0) }
            }
        }

        /// Collects the sessions' figures until `isOver` is true.
        private static func samples(
            _ relay: RelayProcess,
            until isOver: ([Sample]) async throws -> Bool
        ) async throws -> [[Sample]] {
            var all: [[Sample]] = []
            _ = try await eventually("the end of the phase", limit: .seconds(60)) { () -> Bool? in
                let status = try await relay.get("/screencapture/broadcast")
                let sessions = (status["sessions"] as? [Object] ?? []).map(Sample.init)
                all.append(sessions)
                return try await isOver(sessions) ? true : nil
            }
            return all
        }

        @Test(
            "add up in every heartbeat, and agree between agent and relay, while the screen moves, is static and switches"
        )
        func identities() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            // A heartbeat a second.
            let relay = try await RelayProcess(in: desktop, arguments: ["--watchdog", "3"])
            defer { relay.terminate() }
            try await relay.post(
                "/screencapture/broadcast/start",
                ["timeout": 60, "source": ["kind": "portal"] as Object]
            )
            let fast = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
            // Slow enough that a request of the status falls between two pictures.
            let slow = try await relay.startSession(["fps": 5, "framing": "scrcpy"])
            let viewers = try [fast, slow].map(SystemTests.viewer)
            for viewer in viewers { try await SystemTests.waitForPictures(10, at: viewer) }

            var all: [[Sample]] = []
            func run(until isOver: ([Sample]) async throws -> Bool) async throws -> (first: [Sample], last: [Sample]) {
                let samples = try await Self.samples(relay, until: isOver)
                all += samples
                return (samples[0], samples[samples.count - 1])
            }
            func isOver(_ samples: [Sample], beyond count: Int, of name: String) -> Bool {
                samples.count == 2 && samples.allSatisfy { $0.agent.integer(name) > count } && samples[1].isBalanced
            }

            let moving = try await run { isOver($0, beyond: 15, of: "encodedLive") }
            #expect(moving.last[0].agent.integer("encodedLive") > moving.first[0].agent.integer("encodedLive"))

            try desktop.pause()
            let unchanged = try await run { isOver($0, beyond: 15, of: "skipped") }
            for sample in unchanged.last {
                #expect(sample.agent.integer("refined") >= 4, "a picture is refined before it is skipped")
            }
            // After settling: no frames and no encoder calls, but pictures continue.
            let settled = try await run {
                isOver($0, beyond: unchanged.last[1].agent.integer("skipped") + 15, of: "skipped")
            }
            for (first, last) in zip(settled.first, settled.last) {
                #expect(last.agent.integer("received") == first.agent.integer("received"))
                #expect(last.relay.integer("pictures") > first.relay.integer("pictures"))
            }

            var switches = 0
            var pictures = 0
            let switching = try await run { samples in
                // Once per heartbeat.
                guard samples.count == 2, samples[0].pictures != pictures else {
                    return switches == 7 && samples[1].isBalanced
                }
                pictures = samples[0].pictures
                guard switches < 7 else { return false }
                try switches % 2 == 0 ? desktop.resume() : desktop.pause()
                switches += 1
                return false
            }
            #expect(switching.last[0].agent.integer("encodedLive") > unchanged.last[0].agent.integer("encodedLive"))

            let faults = all.flatMap { $0 }.flatMap(\.faults)
            #expect(faults.isEmpty, "\(Set(faults))")
            #expect(
                Set(all.compactMap { $0.first?.agent.integer("received") }).count > 6,
                "several heartbeats were seen"
            )
        }
    }
}

extension [String: any Sendable] {
    /// The sum of an array of numbers.
    fileprivate func total(_ key: String) -> Int { (self[key] as? [Int] ?? []).reduce(0, +) }
}
