import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    @Suite("Two desktops in one relay")
    struct TwoDesktopsTests {
        private static let fps = 30

        private static func configuration(sway: Desktop, mutter: Desktop) throws -> String {
            func environment(_ desktop: Desktop) throws -> String {
                try desktop.environment().map { "\($0.key): \"\($0.value)\"" }.sorted().joined(separator: ", ")
            }
            return """
                devices:
                  sway:
                    source: {kind: portal}
                    environment: {\(try environment(sway))}
                  mutter:
                    source: {kind: mutter}
                    environment: {\(try environment(mutter))}
                """
        }

        /// One device, its desktop and a viewer of it.
        private struct Device {
            let name: String
            let desktop: Desktop
            let session: Int
            let viewer: ScrcpyViewer

            init(_ name: String, _ desktop: Desktop, _ relay: RelayProcess) async throws {
                try await relay.post("/screencapture/broadcast/start", ["device": name, "timeout": 60])
                let session = try await relay.startSession(["device": name, "fps": fps, "framing": "scrcpy"])
                self.name = name
                self.desktop = desktop
                self.session = session.integer("id")
                viewer = try SystemTests.viewer(of: session)
            }

            func counters(_ relay: RelayProcess) async throws -> RelayProcess.Object {
                try await relay.get("/screencapture/\(session)").object("counters")
            }

            func livePictures(_ relay: RelayProcess) async throws -> Int {
                try await counters(relay).object("agent").integer("encodedLive")
            }

            /// Kills the compositor with its clients, and starts them again.
            func restartCompositor() throws {
                switch name {
                case "sway": try desktop.restart("sway", "portal-wlr")
                default: try desktop.restart("mutter")
                }
                try desktop.startClient()
            }
        }

        @Test("a compositor that dies and comes back, twice, is captured again; the other desktop loses no picture")
        func compositorDies() async throws {
            let sway = try Desktop(.sway)
            defer { sway.end() }
            let mutter = try Desktop(.mutter)
            defer { mutter.end() }
            let file = sway.directory.appendingPathComponent("relay.yaml")
            try Data(Self.configuration(sway: sway, mutter: mutter).utf8).write(to: file)
            let relay = try await RelayProcess(in: sway, arguments: ["--config", file.path, "--watchdog", "3"])
            defer { relay.terminate() }
            let devices = [
                try await Device("sway", sway, relay), try await Device("mutter", mutter, relay),
            ]
            let untouched = devices[1]
            for device in devices { try await SystemTests.waitForPictures(15, at: device.viewer) }

            // Heartbeats, which count the live pictures, come once a second.
            let patience = Effort.choose(Duration.seconds(30), whole: .seconds(3))
            for _ in 0..<2 {
                let live = try await devices[0].livePictures(relay)
                try devices[0].restartCompositor()
                _ = try await eventually("live pictures of the compositor that is back", limit: patience) {
                    try await devices[0].livePictures(relay) > live ? true : nil
                }
                let rest = Effort.choose(30, whole: 25 * Self.fps)
                for device in devices { try await SystemTests.waitForPictures(rest, at: device.viewer) }
            }

            for device in devices {
                #expect(!device.viewer.current.isClosed)
                let pictures = device.viewer.pictures
                let size = PictureSize(width: 1280, height: 720)
                let decoded = try FFmpeg.decodeLuma(h264: pictures.flatMap(\.bytes), size: size)
                #expect(decoded.count == pictures.count)
                // The screen is empty until the counter is back.
                let whole = decoded.filter { Pictures.counter(luma: $0, size: size) != nil }
                #expect(device.name == untouched.name ? whole.count == decoded.count : whole.count > 30)
                #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
            }
            let agents = try await relay.get("/screencapture/broadcasts")["broadcasts"] as? [RelayProcess.Object]
            #expect(agents?.map { $0.integer("restarts") } == [0, 0])
            let counters = try await untouched.counters(relay)
            #expect(counters.object("relay").integer("dropped") == 0)
            #expect(counters.object("relay").integer("discarded") == 0)
            #expect(counters.object("agent").integer("linkDrops") == 0)
            #expect(counters.object("relay").integer("resyncs") == 0)
        }
    }
}
