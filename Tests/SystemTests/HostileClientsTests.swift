import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Tests of clients that try to keep the relay busy or full while a viewer watches.
    @Suite("Hostile clients")
    struct HostileClientsTests {
        private static let fps = 30.0
        /// Most connections. The relay's default, if the test has the machine to itself.
        private static let maximum = Effort.choose(200, whole: 4096)
        private static let arguments = Effort.choose(
            ["--max-connections", "200", "--max-connections-per-address", "50", "--request-timeout", "2"],
            whole: []
        )

        /// The most memory that the relay may use, in KiB.
        private static let memoryBound = Effort.choose(128 << 10, whole: 256 << 10)

        /// The slots of a session at ``fps`` that have a picture.
        private struct Slots: CustomStringConvertible {
            private let slots: [Int]

            init(_ pictures: ArraySlice<ScrcpyViewer.Picture>) {
                slots = pictures.map { Int((Double($0.pts) * fps / 1e6).rounded()) }
            }

            var count: Int { slots.count }

            /// Whether each slot is later than the one before it.
            var increase: Bool { zip(slots, slots.dropFirst()).allSatisfy { $0 < $1 } }

            /// The number of slots without a picture between the first and the last.
            private var left: Int { slots.last! - slots.first! + 1 - slots.count }

            var shareLeft: Double { Double(left) / Double(slots.count + left) }

            var description: String { "\(slots.count) pictures and \(left) slots without one" }
        }

        /// The most memory that the relay used.
        private struct Peak {
            let pid: Int32
            var memory = 0

            mutating func look() throws { memory = max(memory, try Footprint(of: pid).memory) }
        }

        @Test(
            "idle and slow ones are ended, bombs refused, all with their answers; the session keeps its cadence and the relay its memory",
            .timeLimit(.minutes(5))
        )
        func cadence() async throws {
            Swarm.allowManyFiles()
            let relay = try await RelayProcess(
                arguments: ["--fallback", "none", "--session-port-base", "0", "--state-file", "none"] + Self.arguments
            )
            defer { relay.terminate() }
            try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            let session = try await relay.startSession(["fps": 30, "width": 320, "height": 180, "framing": "scrcpy"])
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(30, at: viewer)
            let begin = viewer.pictures.count
            try await SystemTests.waitForPictures(Effort.choose(30, whole: 300), at: viewer)
            let first = viewer.pictures.count
            // The pictures that are missing without an attack.
            let quiet = Slots(viewer.pictures[begin..<first])
            let before = try Footprint(of: relay.pid)
            var peak = Peak(pid: relay.pid)

            try await idle(relay, &peak)
            try await slow(relay, &peak, sending: Array("GET /livez HTTP/1.1\r\nX: ".utf8), then: [65])
            try await slow(
                relay,
                &peak,
                sending: Array(
                    "POST /screencapture/start HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n".utf8
                ),
                then: [32]
            )
            try await bombs(relay, &peak)

            let hostile = Slots(viewer.pictures[first...])
            try await SystemTests.waitForPictures(30, at: viewer)
            #expect(!viewer.current.isClosed)
            #expect(hostile.increase)
            let counters = try await relay.get("/screencapture/1").object("counters").object("relay")
            #expect(counters.integer("picturesOut") >= first + hostile.count, "\(counters)")
            #expect(counters.integer("dropped") == 0 && counters.integer("resyncs") == 0, "\(counters)")
            // A slot without a picture means that the agent got too little processor time.
            if Effort.isWhole { #expect(hostile.shareLeft <= quiet.shareLeft + 0.01, "\(hostile), before \(quiet)") }
            #expect(peak.memory < Self.memoryBound)
            let after = try await eventually("the descriptors of the beginning") { () -> Footprint? in
                let now = try Footprint(of: relay.pid)
                return now.descriptors <= before.descriptors + 2 ? now : nil
            }
            print(
                "hostile clients: \(hostile), before \(quiet); KiB of memory \(before.memory) before, \(peak.memory) at most, \(after.memory) after"
            )
        }

        /// Opens silent connections, more than the relay allows.
        private func idle(_ relay: RelayProcess, _ peak: inout Peak) async throws {
            let swarm = Swarm()
            let count = Effort.choose(400, whole: 10_000)
            try swarm.connect(count, port: relay.httpPort, addresses: 20)
            try await watch(swarm, &peak)
            let statuses = swarm.statuses
            print("hostile clients: \(count) idle connections: \(statuses)")
            #expect(Set(statuses.keys).isSubset(of: [0, 408, 503]))
            // The viewer and the test's calls have places. Late clients may find free ones again.
            #expect(statuses[408, default: 0] >= Self.maximum - 20)
            #expect(statuses[503, default: 0] >= 64)
            try await expectPlace(relay)
        }

        /// Opens connections that send a byte now and then.
        private func slow(_ relay: RelayProcess, _ peak: inout Peak, sending head: [UInt8], then byte: [UInt8])
            async throws
        {
            let swarm = Swarm()
            try swarm.connect(Effort.choose(100, whole: 1000), port: relay.httpPort, addresses: 10)
            swarm.send(head)
            try await watch(swarm, &peak, sending: byte)
            print("hostile clients: slow ones: \(swarm.statuses)")
            #expect(swarm.statuses == [408: swarm.members.count])
            try await expectPlace(relay)
        }

        /// Sends heads without an end.
        private func bombs(_ relay: RelayProcess, _ peak: inout Peak) async throws {
            let swarm = Swarm()
            try swarm.connect(Effort.choose(50, whole: 500), port: relay.httpPort, addresses: 10)
            swarm.send(Array("GET /livez HTTP/1.1\r\nHost: localhost\r\n".utf8))
            let fields = (0..<8).map { "X-\($0): \(String(repeating: "a", count: 8 << 10))\r\n" }.joined()
            try await watch(swarm, &peak, sending: Array(fields.utf8))
            print("hostile clients: bombs: \(swarm.statuses)")
            #expect(swarm.statuses == [431: swarm.members.count])
            try await expectPlace(relay)
        }

        /// Waits until the relay has ended all of them.
        private func watch(_ swarm: Swarm, _ peak: inout Peak, sending bytes: [UInt8] = []) async throws {
            while !swarm.hasEnded {
                try Task.checkCancellation()
                if !bytes.isEmpty { swarm.send(bytes) }
                swarm.read()
                try peak.look()
                try await Task.sleep(for: .milliseconds(200))
            }
        }

        /// Waits until the relay answers a caller again.
        private func expectPlace(_ relay: RelayProcess) async throws {
            _ = try await eventually("an answer") { try? await relay.get("/livez") }
        }
    }
}
