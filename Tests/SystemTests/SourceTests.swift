import Media
import TestSupport
import Testing

extension SystemTests {
    @Suite("Sources")
    struct SourceTests {
        /// Waits until the source has the size `source`, watches a session, and returns the counter values of its
        /// pictures.
        private func watch(_ relay: RelayProcess, source: PictureSize) async throws -> [Int] {
            let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(40, at: viewer)
            return try SystemTests.counters(viewer, size: source.even, source: source)
        }

        private func expectMoving(_ values: [Int]) {
            #expect(!values.contains(-1), "every picture shows a whole counter")
            #expect(values == values.sorted(), "the screen never goes back")
            #expect(Set(values).count > 10, "and it moves")
        }

        @Test("Mutter's monitor is captured without a portal, and auto finds it")
        func mutter() async throws {
            let desktop = try Desktop(.mutter)
            try await SystemTests.withBroadcast(of: desktop, source: ["kind": "auto"]) { desktop, relay in
                let status = try await relay.get("/screencapture/broadcast")
                #expect(status.object("source").string("kind") == "mutter")
                let size = PictureSize(width: 1280, height: 720)
                expectMoving(try await watch(relay, source: size))

                try desktop.pause()
                let value = try desktop.shownValue()
                let viewer = try SystemTests.viewer(of: try await relay.get("/screencapture/1"))
                try await SystemTests.waitForPictures(60, at: viewer)
                let last = try #require(try FFmpeg.decodeLuma(h264: viewer.stream, size: size).last)
                #expect(Pictures.counter(luma: last, size: size) == value)
                let screenshot = try FFmpeg.luma(ofPictureAt: desktop.screenshot(), size: size)
                #expect(Pictures.psnr(last, screenshot) > 35)
            }
        }

        @Test("Mutter makes a monitor of the size that is asked for, and names its monitors when there is no such")
        func mutterMonitors() async throws {
            let desktop = try Desktop(.mutter)
            let source: RelayProcess.Object = ["kind": "mutter", "width": 800, "height": 600]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                let session = try await relay.startSession(["framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(5, at: viewer)
                let size = PictureSize(width: 800, height: 600)
                #expect(try FFmpeg.decodeLuma(h264: viewer.stream, size: size).count >= 5)
                let status = try await relay.get("/screencapture/broadcast").object("source")
                #expect(status.integer("width") == 800 && status.integer("height") == 600)

                try await relay.post("/screencapture/broadcast/stop")
                let wrong: RelayProcess.Object = ["kind": "mutter", "output": "X-9"]
                let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                    try await relay.post("/screencapture/broadcast/start", ["source": wrong])
                }
                #expect(refusal?.status == 503 && refusal?.detail.contains("Meta-0") == true)
            }
        }

        @Test("Mutter's window with the focus is captured")
        func mutterWindow() async throws {
            let desktop = try Desktop(.mutter)
            let source: RelayProcess.Object = ["kind": "mutter", "content": "window"]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                // The counter's window fills the screen.
                expectMoving(try await watch(relay, source: PictureSize(width: 1280, height: 720)))
            }
        }

        @Test(
            "a node of a GStreamer pipeline is captured, in every byte order, with a session manager and without",
            arguments: [("BGRx", true), ("RGBx", false), ("BGRA", false), ("RGBA", true)]
        )
        func node(format: String, sessionManager: Bool) async throws {
            let desktop = try Desktop(.none, sessionManager: sessionManager)
            // An odd size, so that rows end in the middle of a block of pixels.
            let size = PictureSize(width: 641, height: 361)
            try desktop.startProducer("screen-7", size: size.description, format: format, holdAt: 90)
            let source: RelayProcess.Object = ["kind": "node", "node": "screen-7"]
            try await SystemTests.withBroadcast(of: desktop, source: source) { desktop, relay in
                expectMoving(try await watch(relay, source: size))
                let viewer = try SystemTests.viewer(of: try await relay.get("/screencapture/1"))
                try await SystemTests.waitForPictures(90, at: viewer)
                let last = try #require(try FFmpeg.decodeLuma(h264: viewer.stream, size: size.even).last)
                let sent = Pictures.patternLuma(value: 90, size: size)
                #expect(Pictures.psnr(last, Pictures.cropped(sent, size: size, to: size.even)) > 35)

                // The node goes and comes back, in another size.
                try desktop.stopProducer("screen-7")
                _ = try await eventually("the loss in the status") {
                    let state = try await relay.get("/screencapture/broadcast").object("source").string("state")
                    return state == "lost" || state == "paused" ? true : nil
                }
                try desktop.startProducer("screen-7", size: "320x240", format: format)
                _ = try await eventually("the new size") {
                    try await relay.get("/screencapture/1").integer("width") == 320 ? true : nil
                }
            }
        }

        @Test("a node that does not exist is answered with those that do")
        func unknownNode() async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            try desktop.startProducer("screen-7", size: "320x240")
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let source: RelayProcess.Object = ["kind": "node", "node": "screen-8"]
            let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                try await relay.post("/screencapture/broadcast/start", ["source": source])
            }
            #expect(refusal?.code == "source_unavailable" && refusal?.detail.contains("screen-7") == true)
        }
    }
}
