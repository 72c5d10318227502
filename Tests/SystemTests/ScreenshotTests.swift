import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of desktops that are captured by screenshots.
    @Suite("Screenshots")
    struct ScreenshotTests {
        private static let size = PictureSize(width: 1280, height: 720)

        private func agentCounters(_ relay: RelayProcess) async throws -> RelayProcess.Object {
            try await relay.get("/screencapture/1").object("counters").object("agent")
        }

        private func waitForStaticScreen(_ relay: RelayProcess) async throws {
            var settled = try await agentCounters(relay)
            _ = try await eventually("30 repeats without the encoder and without a frame between them") {
                let now = try await agentCounters(relay)
                if now.integer("received") != settled.integer("received") { settled = now }
                return now.integer("skipped") > settled.integer("skipped") + 30 ? true : nil
            }
        }

        private func expectMoving(_ values: [Int]) {
            #expect(!values.contains(-1), "every picture shows a whole counter")
            #expect(values == values.sorted(), "the screen never goes back")
            #expect(Set(values).count > values.count / 2, "and it moves")
        }

        @Test("sway's screen moves, settles when it is static, and goes on in another size")
        func sway() async throws {
            try await SystemTests.withBroadcast(source: ["kind": "screenshot", "output": "HEADLESS-1"]) {
                desktop,
                relay in
                let source = try await relay.get("/screencapture/broadcast").object("source")
                #expect(source.string("kind") == "wlr-screencopy")
                #expect(source.integer("width") == 1280 && source.integer("height") == 720)
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(60, at: viewer)
                expectMoving(try SystemTests.counters(viewer, size: Self.size, source: Self.size))

                try desktop.pause()
                let value = try desktop.shownValue()
                try await waitForStaticScreen(relay)
                let last = try #require(try FFmpeg.decodeLuma(h264: viewer.stream, size: Self.size).last)
                #expect(Pictures.counter(luma: last, size: Self.size) == value)
                let screenshot = try FFmpeg.luma(ofPictureAt: desktop.screenshot(), size: Self.size)
                #expect(Pictures.psnr(last, screenshot) > 35)

                try desktop.resume()
                for size in [PictureSize(width: 853, height: 481), PictureSize(width: 1920, height: 1080)] {
                    try desktop.resize(size.description)
                    _ = try await eventually("the new size in the status") {
                        try await relay.get("/screencapture/1").integer("width") == size.even.width ? true : nil
                    }
                    try await SystemTests.waitForPictures(5, at: viewer)
                }
                #expect(!viewer.current.isClosed)
            }
        }

        @Test("no session, no shots; the next session begins with a fresh picture")
        func dormant() async throws {
            try await SystemTests.withBroadcast(source: ["kind": "screenshot"]) { desktop, relay in
                let first = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                try await SystemTests.waitForPictures(5, at: try SystemTests.viewer(of: first))
                try await relay.post("/screencapture/\(first.integer("id"))/stop")
                func received() async throws -> Int {
                    try await relay.get("/screencapture/broadcast").object("heartbeat").integer("framesReceived")
                }
                // Two heartbeats of a moving screen without a frame.
                var (before, quiet) = (try await received(), 0)
                _ = try await eventually("no more frames") {
                    try await Task.sleep(for: .milliseconds(700))
                    let now = try await received()
                    (before, quiet) = (now, now == before ? quiet + 1 : 0)
                    return quiet == 2 ? true : nil
                }
                try desktop.pause()
                let value = try desktop.shownValue()
                let second = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: second)
                try await SystemTests.waitForPictures(10, at: viewer)
                #expect(Set(try SystemTests.counters(viewer, size: Self.size, source: Self.size)) == [value])
            }
        }

        @Test("an X server's screen moves, settles, and is found again when the server has died")
        func x11() async throws {
            let desktop = try Desktop(.xvfb)
            try await SystemTests.withBroadcast(of: desktop, source: ["kind": "screenshot"]) { desktop, relay in
                let source = try await relay.get("/screencapture/broadcast").object("source")
                #expect(source.string("kind") == "x11")
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(60, at: viewer)
                expectMoving(try SystemTests.counters(viewer, size: Self.size, source: Self.size))
                try desktop.pause()
                let value = try desktop.shownValue()
                try await waitForStaticScreen(relay)
                let last = try #require(try FFmpeg.decodeLuma(h264: viewer.stream, size: Self.size).last)
                #expect(Pictures.counter(luma: last, size: Self.size) == value)
                let screenshot = try FFmpeg.luma(ofPictureAt: desktop.screenshot(), size: Self.size)
                #expect(Pictures.psnr(last, screenshot) > 35)

                // What moves is noticed at once, also by a source that waits for a change.
                try desktop.resume()
                let shown = try await agentCounters(relay).integer("received")
                _ = try await eventually("a moving screen again") {
                    try await agentCounters(relay).integer("received") > shown + 20 ? true : nil
                }

                try desktop.restart("xvfb")
                try desktop.startClient()
                let before = try await agentCounters(relay).integer("received")
                _ = try await eventually("frames of the new server") {
                    try await agentCounters(relay).integer("received") > before + 20 ? true : nil
                }
                #expect(!viewer.current.isClosed)

                try await relay.post("/screencapture/broadcast/stop")
                let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                    let wrong: RelayProcess.Object = ["kind": "screenshot", "output": "X-9"]
                    try await relay.post("/screencapture/broadcast/start", ["source": wrong])
                }
                #expect(refusal?.status == 503 && refusal?.detail.contains("it has: screen") == true)
                let monitor: RelayProcess.Object = ["kind": "screenshot", "output": "screen", "cursor": "hidden"]
                let started = try await relay.post("/screencapture/broadcast/start", ["source": monitor])
                #expect(started.object("source").integer("width") == 1280)
            }
        }

        @Test(
            "programs that write PPM, PNG and JPEG are screenshots' source",
            arguments: [
                ["grim", "-t", "ppm", "-"], ["grim", "-t", "png", "-l", "1", "-"],
                [
                    "sh", "-c",
                    "grim -t ppm - | ffmpeg -v error -f image2pipe -c:v ppm -i - -f image2pipe -c:v mjpeg -q:v 2 -",
                ],
            ]
        )
        func command(words: [String]) async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let list = words.map { "\"\($0)\"" }.joined(separator: ", ")
            let file = desktop.directory.appendingPathComponent("relay.yaml")
            try "devices: {default: {screenshotCommand: [\(list)]}}".write(to: file, atomically: true, encoding: .utf8)
            let relay = try await RelayProcess(in: desktop, arguments: ["--config", file.path])
            defer { relay.terminate() }
            let start: RelayProcess.Object = ["timeout": 60, "source": ["kind": "screenshot"] as RelayProcess.Object]
            let started = try await relay.post("/screencapture/broadcast/start", start)
            #expect(started.object("source").string("kind") == "command")
            let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(60, at: viewer)
            let values = try SystemTests.counters(viewer, size: Self.size, source: Self.size)
            #expect(!values.contains(-1) && values == values.sorted() && Set(values).count > 3)
            try desktop.pause()
            let value = try desktop.shownValue()
            // The slowest source takes some tenths of a second for a shot, so the screen must be static for several.
            let before = try await agentCounters(relay)
            _ = try await eventually("repeats without the encoder") {
                try await agentCounters(relay).integer("skipped") > before.integer("skipped") + 60 ? true : nil
            }
            let last = try #require(try FFmpeg.decodeLuma(h264: viewer.stream, size: Self.size).last)
            #expect(Pictures.counter(luma: last, size: Self.size) == value)
            let screenshot = try FFmpeg.luma(ofPictureAt: desktop.screenshot(), size: Self.size)
            #expect(Pictures.psnr(last, screenshot) > 30)
        }

        @Test("a compositor that dies is found again, and a monitor that does not exist is answered with those that do")
        func recovery() async throws {
            try await SystemTests.withBroadcast(source: ["kind": "screenshot"]) { desktop, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(10, at: viewer)
                try desktop.restart("sway")
                try desktop.startClient()
                let before = try await agentCounters(relay).integer("received")
                _ = try await eventually("frames of the new compositor") {
                    try await agentCounters(relay).integer("received") > before + 20 ? true : nil
                }
                #expect(!viewer.current.isClosed)
                #expect(try await relay.get("/screencapture/broadcast").integer("restarts") == 0)

                try await relay.post("/screencapture/broadcast/stop")
                let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                    let wrong: RelayProcess.Object = ["kind": "screenshot", "output": "X-9"]
                    try await relay.post("/screencapture/broadcast/start", ["source": wrong])
                }
                #expect(refusal?.status == 503 && refusal?.detail.contains("HEADLESS-1") == true)
            }
        }
    }
}
