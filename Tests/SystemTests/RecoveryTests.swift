import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests in which a viewer stays connected, and everything that it gets decodes.
    @Suite("When the desktop loses a part")
    struct RecoveryTests {
        private static let node: RelayProcess.Object = ["kind": "node", "node": "screen"]

        /// Runs `fault` and `remedy` on a live desktop and waits until pictures of the moving screen come again.
        private func survives(
            _ fault: (Desktop) throws -> Void,
            meanwhile remedy: (Desktop, RelayProcess) async throws -> Void = { _, _ in }
        ) async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(15, at: viewer)
                let agent = try await relay.get("/screencapture/broadcast").object("agent").integer("pid")
                let live = try await livePictures(relay)

                try fault(desktop)
                try await remedy(desktop, relay)
                _ = try await eventually("live pictures after the fault") {
                    try await livePictures(relay) > live + 30 ? true : nil
                }
                try await SystemTests.waitForPictures(5, at: viewer)
                let status = try await relay.get("/screencapture/broadcast")
                #expect(status.object("source").string("state") == "streaming")
                #expect(status.object("agent").integer("pid") == agent, "the agent itself goes on")
                #expect(!viewer.current.isClosed)
                let size = PictureSize(width: 1280, height: 720)
                let pictures = viewer.pictures
                let decoded = try FFmpeg.decodeLuma(h264: pictures.flatMap(\.bytes), size: size)
                #expect(decoded.count == pictures.count)
                #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
            }
        }

        private func livePictures(_ relay: RelayProcess) async throws -> Int {
            try await relay.get("/screencapture/1").object("counters").object("agent").integer("encodedLive")
        }

        @Test("the compositor, it is captured again when it is back")
        func compositor() async throws {
            try await survives { desktop in
                try desktop.restart("sway", "portal-wlr")
                try desktop.startClient()
            }
        }

        @Test("the PipeWire daemon, the agent connects again")
        func pipeWire() async throws {
            try await survives { desktop in
                try desktop.restart("pipewire", "wireplumber", "portal-wlr", "portal")
            }
        }

        /// After the portal's backend resumes, a stream may bring one old picture and no more.
        @Test("the session manager, the stream is linked anew and opened anew")
        func sessionManager() async throws {
            try await survives { desktop in
                try desktop.restart("wireplumber")
            } meanwhile: { _, relay in
                _ = try await eventually("the end of the stream that was linked anew") {
                    let source = try await relay.get("/screencapture/broadcast").object("source")
                    return source.string("cause") == "stream_linked_anew" ? true : nil
                }
            }
        }

        @Test("the session manager for so long that the stream is given up, it is opened anew")
        func sessionManagerForLong() async throws {
            try await survives { desktop in
                let manager = try #require(desktop.processes(running: "wireplumber").first)
                kill(manager, SIGKILL)
            } meanwhile: { desktop, relay in
                _ = try await eventually("the end of the paused stream") {
                    let source = try await relay.get("/screencapture/broadcast").object("source")
                    return source.string("cause") == "stream_stays_paused" ? true : nil
                }
                try desktop.restart("wireplumber")
            }
        }

        @Test("the portal's backend, permission is asked for again with the saved token")
        func portalBackend() async throws {
            try await survives { desktop in try desktop.restart("portal-wlr") }
        }

        @Test("a source that disappears and returns repeatedly leaks no descriptor or thread")
        func leaks() async throws {
            let desktop = try Desktop()
            try await SystemTests.withBroadcast(of: desktop) { desktop, relay in
                let agent = try #require(desktop.processes(running: "capture-agent").first)
                // Encoders are tried in a thread that ends by itself.
                _ = try await eventually("the end of the probes") { () -> Bool? in
                    let tasks = "/proc/\(agent)/task"
                    let names = try FileManager.default.contentsOfDirectory(atPath: tasks).map { task in
                        (try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)) ?? ""
                    }
                    return names.contains { $0.hasPrefix("encoder-probe") } ? nil : true
                }
                let before = try Footprint(of: agent)
                for _ in 0..<Effort.choose(8, whole: 250) {
                    // A saved token is a new file: the portal has granted the screen again.
                    let grant = try desktop.restoreTokenFile()
                    try desktop.restart("portal-wlr")
                    _ = try await eventually("the next grant and its stream") { () -> Bool? in
                        guard try desktop.restoreTokenFile() != grant else { return nil }
                        let source = try await relay.get("/screencapture/broadcast").object("source")
                        return source.string("state") == "streaming" ? true : nil
                    }
                }
                try await expectFootprint(before, of: agent)
            }
        }

        @Test("a node that disappears and returns repeatedly leaks no descriptor, thread or memory")
        func nodeLeaks() async throws {
            let desktop = try Desktop(.none)
            try desktop.startNode("screen", size: "640x360", buffers: [])
            try await SystemTests.withBroadcast(of: desktop, source: Self.node) { desktop, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(15, at: viewer)
                let agent = try #require(desktop.processes(running: "capture-agent").first)
                let before = try Footprint(of: agent)
                for _ in 0..<Effort.choose(8, whole: 250) {
                    try desktop.stopProducer("screen")
                    try desktop.startNode("screen", size: "640x360", buffers: [])
                    let live = try await livePictures(relay)
                    _ = try await eventually("live pictures of the node that is back") {
                        try await livePictures(relay) > live ? true : nil
                    }
                }
                try await expectFootprint(before, of: agent)
                #expect(!viewer.current.isClosed)
            }
        }

        @Test("a node that is linked and sends nothing is asked again")
        func silentNode() async throws {
            let desktop = try Desktop(.none)
            try desktop.startNode("screen", size: "640x360", buffers: ["--silent"])
            try await SystemTests.withBroadcast(of: desktop, source: Self.node) { _, relay in
                _ = try await relay.startSession(["fps": 30])
                _ = try await eventually("live pictures") { try await livePictures(relay) > 0 ? true : nil }
            }
        }

        private func expectFootprint(_ before: Footprint, of agent: Int32) async throws {
            var now = before
            do {
                _ = try await eventually("the descriptors and threads of the beginning") {
                    now = try Footprint(of: agent)
                    // A process opens a file for a moment now and then, perhaps also at the beginning.
                    return now.descriptors <= before.descriptors && now.threads <= before.threads ? true : nil
                }
            } catch {
                Issue.record("\(error): \(now.difference(from: before))")
            }
            // Allocators keep what they had at the worst moment. Growth by two pictures is not a leak; growth by one
            // for each loss is.
            let growth = try Footprint(of: agent).memory - before.memory
            #expect(growth < 12_000, "resident memory grew by \(growth) KiB")
            print("resident memory: \(before.memory) KiB before, \(growth) KiB more after")
        }

        @Test("a portal that hangs, and ends while it is asked, is reported instead of waited for")
        func hangingPortal() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let backend = try #require(desktop.processes(running: "xdg-desktop-portal-wlr").first)
            let portal = try #require(desktop.processes(running: "xdg-desktop-portal").first)
            let scratch = try Scratch()
            let (monitor, calls) = try await busMonitor(of: "CreateSession", in: desktop, output: scratch.file("calls"))
            defer { monitor.terminate() }
            kill(backend, SIGSTOP)
            async let start = relay.post("/screencapture/broadcast/start", ["timeout": 60])
            // The portal hangs with its backend, once it has been asked.
            _ = try await eventually("the question to the portal") {
                try calls().contains("CreateSession") ? true : nil
            }
            kill(portal, SIGKILL)
            do {
                _ = try await start
                Issue.record("a start without a portal has to fail")
            } catch let refusal as RelayProcess.Refusal {
                #expect(refusal.code == "source_unavailable")
                #expect(refusal.detail.contains("ended while it was asked"))
            }
            try desktop.restart("portal-wlr", "portal")
            let again = try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
            #expect(again.string("state") == "live")
        }

        /// Watches the desktop's bus for calls of a method.
        ///
        /// - Returns: The monitor, and a function that returns its output so far.
        private func busMonitor(
            of method: String,
            in desktop: Desktop,
            output: URL
        ) async throws -> (monitor: Process, seen: @Sendable () throws -> String) {
            try Data().write(to: output)
            let monitor = desktop.process("dbus-monitor", ["--session", "member='\(method)'"])
            monitor.standardOutput = try FileHandle(forWritingTo: output)
            try Programs.start(monitor)
            let seen: @Sendable () throws -> String = { try String(contentsOf: output, encoding: .utf8) }
            // The monitor loses its name when it starts monitoring.
            _ = try await eventually("a monitor of the bus") { try seen().contains("NameLost") ? true : nil }
            return (monitor, seen)
        }
    }
}
