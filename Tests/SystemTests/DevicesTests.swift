import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    @Suite("Devices of a configuration file")
    struct DevicesTests {
        private static let configuration = """
            devices:
              left:
                source: {kind: test-pattern, width: 320, height: 240, fps: 30}
                environment: {HELIOGRAPH_TEST_NAME: left}
                maxSessions: 1
              right:
                source: {kind: test-pattern, width: 640, height: 360, fps: 30}
                environment: {HELIOGRAPH_TEST_NAME: right}
                maxViewers: 1
            """

        /// Pictures per second of the sessions.
        private static let fps = 10

        /// Runs a relay with the configuration, both broadcasts live.
        private func withDevices(_ body: (RelayProcess) async throws -> Void) async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            let file = desktop.directory.appendingPathComponent("relay.yaml")
            try Data(Self.configuration.utf8).write(to: file)
            let relay = try await RelayProcess(in: desktop, arguments: ["--config", file.path])
            defer { relay.terminate() }
            for device in ["left", "right"] {
                let answer = try await relay.post("/screencapture/broadcast/start", ["device": device, "timeout": 60])
                #expect(answer.string("device") == device)
            }
            try await body(relay)
        }

        private func agent(of device: String, _ relay: RelayProcess) async throws -> Int32 {
            Int32(try await relay.get("/screencapture/broadcast?device=\(device)").object("agent").integer("pid"))
        }

        private func session(of device: String, _ relay: RelayProcess) async throws -> RelayProcess.Object {
            try await relay.startSession(["device": device, "fps": Self.fps, "framing": "scrcpy"])
        }

        /// Returns how many pictures viewers got, and how many of the agent's pictures they did not get.
        private func counters(
            of session: RelayProcess.Object,
            _ relay: RelayProcess
        ) async throws -> (handedOut: Int, kept: Int) {
            let session = try await relay.get("/screencapture/\(session.integer("id"))")
            let counters = session.object("counters").object("relay")
            let handedOut = counters.integer("picturesOut")
            return (handedOut, counters.integer("pictures") - handedOut)
        }

        @Test(
            "are captured side by side; when one's agent is killed its viewer goes on, and the other's misses nothing"
        )
        func sideBySide() async throws {
            try await withDevices { relay in
                let sessions = (try await session(of: "left", relay), try await session(of: "right", relay))
                let left = try SystemTests.viewer(of: sessions.0)
                let right = try SystemTests.viewer(of: sessions.1)
                try await SystemTests.waitForPictures(5, at: left)
                try await SystemTests.waitForPictures(5, at: right)
                let before = try await counters(of: sessions.1, relay)

                let agent = try await agent(of: "left", relay)
                try Victim.signal(agent, SIGKILL)
                _ = try await eventually("the next agent") {
                    let next = try await self.agent(of: "left", relay)
                    return next != 0 && next != agent ? true : nil
                }
                try await SystemTests.waitForPictures(10, at: left)
                try await SystemTests.waitForPictures(10, at: right)

                #expect(!left.current.isClosed && !right.current.isClosed)
                let sent = try await eventually("all that the agent has sent since is handed out") {
                    let counters = try await self.counters(of: sessions.1, relay)
                    return counters.kept <= before.kept ? counters.handedOut : nil
                }
                _ = try await eventually("\(sent) pictures arrive") { right.pictures.count >= sent ? true : nil }
                for viewer in [left, right] {
                    #expect(zip(viewer.pictures, viewer.pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
                }
                for (viewer, size) in [(left, (320, 240)), (right, (640, 360))] {
                    let properties = try FFmpeg.streamProperties(viewer.stream, codec: .h264)
                    #expect(properties["width"] == "\(size.0)" && properties["height"] == "\(size.1)")
                }
                let restarts = try await relay.get("/screencapture/broadcasts")["broadcasts"] as? [RelayProcess.Object]
                #expect(restarts?.map { $0.integer("restarts") } == [1, 0])
            }
        }

        @Test("have their own environment and limits, and the command lists them")
        func ownEnvironmentAndLimits() async throws {
            try await withDevices { relay in
                for device in ["left", "right"] {
                    let pid = try await agent(of: device, relay)
                    let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/environ"))
                    let variables = environment.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
                    #expect(variables.contains("HELIOGRAPH_TEST_NAME=\(device)"))
                }
                _ = try await session(of: "left", relay)
                let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                    try await session(of: "left", relay)
                }
                #expect(refusal?.code == "too_many_sessions")
                let right = try await session(of: "right", relay)
                let first = try SystemTests.viewer(of: right)
                try await SystemTests.waitForPictures(1, at: first)
                let second = try SystemTests.viewer(of: right)
                _ = try await eventually("the second viewer's end") { second.current.isClosed ? true : nil }
                #expect(second.pictures.isEmpty && !first.current.isClosed)

                let address = ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"]
                func heliograph(_ arguments: String...) throws -> Programs.Outcome {
                    try Programs.run(Programs.product("heliograph"), arguments, environment: address)
                }
                let lines = try heliograph("devices").output.split(separator: "\n")
                #expect(lines.count == 2)
                #expect(lines.first?.hasPrefix("left: live, source test-pattern 320x240") == true)
                #expect(lines.last?.hasPrefix("right: live, source test-pattern 640x360") == true)
                #expect(try heliograph("status").status == 1, "it has to say which")
                #expect(try heliograph("stop", "--device", "left").output == "left: stopped\n")
                #expect(try heliograph("status", "--device", "right").output.hasPrefix("right: live"))
            }
        }
    }
}
