import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// The whole system on a real desktop: sway, the portal, PipeWire, x264, the relay, and ffmpeg as the viewer's
    /// decoder.
    @Suite("On a real desktop")
    struct DesktopTests {
        @Test("what was started in it ends with it, so that a test run that is killed leaves no relay behind")
        func endsWhatRunsInIt() async throws {
            let desktop = try Desktop(.none)
            let process = desktop.process("sleep", ["1000"])
            try Programs.start(process)
            _ = try await eventually("the process") { desktop.processes(running: "sleep").isEmpty ? nil : true }
            desktop.end()
            #expect(desktop.processes(running: "sleep").isEmpty)
            process.waitUntilExit()
        }

        @Test("three sessions run side by side, and stopping one does not disturb the others")
        func threeSessions() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                let source = PictureSize(width: 1280, height: 720)
                let requests: [(arguments: RelayProcess.Object, size: PictureSize)] = [
                    (["width": 1280, "height": 720, "fps": 30], PictureSize(width: 1280, height: 720)),
                    (["width": 640, "height": 360, "fps": 15], PictureSize(width: 640, height: 360)),
                    (["width": 853, "height": 481, "fps": 60], PictureSize(width: 852, height: 480)),
                ]
                var sessions: [RelayProcess.Object] = []
                for request in requests {
                    let framing: RelayProcess.Object = ["framing": "scrcpy"]
                    sessions.append(try await relay.startSession(request.arguments.merging(framing) { own, _ in own }))
                }
                let viewers = try sessions.map(SystemTests.viewer)
                for viewer in viewers { try await SystemTests.waitForPictures(30, at: viewer) }
                try await relay.post("/screencapture/\(sessions[1].integer("id"))/stop")
                _ = try await eventually("the end of the stopped session") { viewers[1].current.isClosed ? true : nil }
                for viewer in [viewers[0], viewers[2]] { try await SystemTests.waitForPictures(60, at: viewer) }
                let remaining = try await relay.get("/screencapture")
                #expect((remaining["sessions"] as? [RelayProcess.Object])?.map { $0.integer("id") } == [1, 3])

                for (viewer, request) in zip(viewers, requests) {
                    let values = try SystemTests.counters(viewer, size: request.size, source: source)
                    #expect(!values.contains(-1), "every picture shows a whole counter")
                    #expect(values == values.sorted(), "the screen never goes back")
                    #expect(Set(values).count > values.count / 2, "and it moves")
                    let pictures = viewer.pictures
                    #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
                    #expect(pictures.first?.isKeyframe == true)
                }
                for (index, fps) in [(0, 30), (2, 60)] {
                    let pictures = viewers[index].pictures
                    let slots = Double(pictures.last!.pts - pictures.first!.pts) / 1e6 * Double(fps) + 1
                    #expect(Double(pictures.count) > 0.9 * slots, "the undisturbed session \(index) holds its cadence")
                    #expect(Double(pictures.count) < slots + 1.5, "and never exceeds it")
                }
            }
        }

        @Test("a screen that changes its size twenty times goes on in every viewer, with a keyframe")
        func resize() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                let following = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let fixed = try await relay.startSession(["fps": 30, "width": 640, "height": 360, "framing": "scrcpy"])
                let viewers = try [following, fixed].map(SystemTests.viewer)
                for viewer in viewers { try await SystemTests.waitForPictures(15, at: viewer) }
                var source = PictureSize(width: 1280, height: 720)
                for step in 1...20 {
                    // Odd and even, larger and smaller, wider and narrower than before.
                    source = PictureSize(width: 641 + step * 211 % 640, height: 361 + step * 137 % 360)
                    try desktop.resize(source.description)
                    _ = try await eventually("the new size in the status") {
                        let session = try await relay.get("/screencapture/\(following.integer("id"))")
                        return session.integer("width") == source.even.width ? true : nil
                    }
                    for viewer in viewers { try await SystemTests.waitForPictures(5, at: viewer) }
                }
                try desktop.pause()
                let value = try desktop.shownValue()
                for viewer in viewers { try await SystemTests.waitForPictures(30, at: viewer) }
                let settled = try FFmpeg.decodeLuma(h264: viewers[0].stream, size: source.even)
                let last = try #require(settled.last)
                let fit = PictureFit(source: source, output: source.even)
                #expect(Pictures.counter(luma: last, size: source.even, content: fit) == value)
                let screenshot = try FFmpeg.luma(ofPictureAt: desktop.screenshot(), size: source)
                #expect(Pictures.psnr(last, Pictures.cropped(screenshot, size: source, to: source.even)) > 35)
                let small = PictureSize(width: 640, height: 360)
                #expect(try SystemTests.counters(viewers[1], size: small, source: source).last == value)
                #expect(viewers.allSatisfy { !$0.current.isClosed })
                for viewer in viewers {
                    let pictures = viewer.pictures
                    #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
                }
                let status = try await relay.get("/screencapture/\(fixed.integer("id"))")
                #expect(
                    status.integer("sourceWidth") == source.width && status.integer("sourceHeight") == source.height
                )
            }
        }

        @Test("a static screen keeps its cadence and shows its last picture, as sharp as a screenshot")
        func staticScreen() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(30, at: viewer)
                try desktop.pause()
                let value = try desktop.shownValue()
                let id = session.integer("id")
                let before = try await relay.get("/screencapture/\(id)").object("counters").object("agent")
                try await SystemTests.waitForPictures(75, at: viewer)
                _ = try await eventually("repeats without the encoder in the status") {
                    let now = try await relay.get("/screencapture/\(id)").object("counters").object("agent")
                    return now.integer("skipped") > before.integer("skipped") + 30 ? true : nil
                }

                let size = PictureSize(width: 1280, height: 720)
                let pictures = try FFmpeg.decodeLuma(h264: viewer.stream, size: size)
                let last = try #require(pictures.last)
                #expect(Pictures.counter(luma: last, size: size) == value)
                let screenshot = try FFmpeg.luma(ofPictureAt: desktop.screenshot(), size: size)
                #expect(Pictures.psnr(last, screenshot) > 35)
            }
        }

        @Test("a session on a static screen begins with its picture, and a second viewer with a keyframe")
        func joiningAStaticScreen() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                try desktop.pause()
                let value = try desktop.shownValue()
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy", "keyframeInterval": 60])
                let first = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(30, at: first)
                let second = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(5, at: second)
                let size = PictureSize(width: 1280, height: 720)
                for viewer in [first, second] {
                    #expect(viewer.pictures.first?.isKeyframe == true)
                    #expect(Set(try SystemTests.counters(viewer, size: size, source: size)) == [value])
                }
            }
        }

        @Test("every start on a static screen has its picture, also after the agent was killed")
        func startingOnAStaticScreen() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                try desktop.pause()
                let value = try desktop.shownValue()
                try await relay.post("/screencapture/broadcast/stop")
                try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
                let size = PictureSize(width: 1280, height: 720)
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(10, at: viewer)
                #expect(Set(try SystemTests.counters(viewer, size: size, source: size)) == [value])

                let agent = try #require(desktop.processes(running: "capture-agent").first)
                let before = viewer.pictures.count
                kill(agent, SIGKILL)
                _ = try await eventually("another agent's keyframe") {
                    viewer.pictures.dropFirst(before).contains(where: \.isKeyframe) ? true : nil
                }
                try await SystemTests.waitForPictures(10, at: viewer)
                #expect(Set(try SystemTests.counters(viewer, size: size, source: size)) == [value])

                try desktop.resume()
                try await SystemTests.waitForPictures(30, at: viewer)
                let values = try SystemTests.counters(viewer, size: size, source: size)
                #expect(!values.contains(-1) && values == values.sorted(), "the screencast takes over")
                #expect(Set(values).count > 10)
            }
        }

        /// Runs `body` with a portal whose second screencast gets nothing before the screen changes.
        private func withStaticScreencast(_ body: (Desktop, RelayProcess, ScrcpyViewer) async throws -> Void)
            async throws
        {
            try await SystemTests.withBroadcast { desktop, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(10, at: viewer)
                try desktop.pause()
                // The first one has the last change before the second one begins.
                try await SystemTests.waitForPictures(30, at: viewer)
                try await relay.post("/screencapture/broadcast/stop")
                try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
                try await SystemTests.waitForPictures(10, at: viewer)
                try await body(desktop, relay, viewer)
            }
        }

        @Test("a screen that goes on being static is not taken for a dead one")
        func staticForLong() async throws {
            try await withStaticScreencast { desktop, relay, viewer in
                // A saved token is a new file for each screencast that the portal has granted.
                let grant = try desktop.restoreTokenFile()
                // More than twice as long as a stream may take for its first frame.
                try await SystemTests.waitForPictures(210, at: viewer)
                #expect(try desktop.restoreTokenFile() == grant)
                let source = try await relay.get("/screencapture/broadcast").object("source")
                #expect(source.string("state") == "streaming")
            }
        }

        @Test("a screencast that sends nothing although the screen has changed is asked for again")
        func deadScreencast() async throws {
            try await withStaticScreencast { desktop, relay, _ in
                let backend = try #require(desktop.processes(running: "xdg-desktop-portal-wlr").first)
                kill(backend, SIGSTOP)
                try desktop.resume()
                _ = try await eventually("the end of the dead screencast") {
                    let source = try await relay.get("/screencapture/broadcast").object("source")
                    return source.string("cause") == "no_frames" ? true : nil
                }
                try desktop.restart("portal-wlr")
                let id = "/screencapture/1"
                let live = try await relay.get(id).object("counters").object("agent").integer("encodedLive")
                _ = try await eventually("live pictures of the next one") {
                    let now = try await relay.get(id)
                    let agent = now.object("counters").object("agent")
                    return now.string("feed") == "primary" && agent.integer("encodedLive") > live + 30 ? true : nil
                }
            }
        }

        @Test("an agent that is killed comes back and the viewers stay")
        func killedAgent() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(30, at: viewer)
                let agent = try #require(desktop.processes(running: "capture-agent").first)
                kill(agent, SIGKILL)
                let next = try await eventually("another agent") {
                    desktop.processes(running: "capture-agent").first { $0 != agent }
                }
                #expect(next != agent)
                try await SystemTests.waitForPictures(30, at: viewer)
                let status = try await relay.get("/screencapture/broadcast")
                #expect(status.string("state") == "live")
                #expect(status.integer("restarts") == 1)
                #expect(!viewer.current.isClosed)
                let size = PictureSize(width: 1280, height: 720)
                let values = try SystemTests.counters(viewer, size: size, source: size)
                #expect(!values.contains(-1) && values == values.sorted())
                let pictures = viewer.pictures
                #expect(
                    zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts },
                    "both agents feed one timeline"
                )
            }
        }

        @Test("stop and SIGTERM leave no process, and close the viewers")
        func ending() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
            try await relay.post("/screencapture/broadcast/stop")
            #expect(desktop.processes(running: "capture-agent").isEmpty)
            try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
            let session = try await relay.startSession(["framing": "scrcpy"])
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(10, at: viewer)
            #expect(relay.terminate() == 0)
            _ = try await eventually("the viewer's end") { viewer.current.isClosed ? true : nil }
            #expect(desktop.processes(running: "capture-agent").isEmpty)
            #expect(desktop.processes(running: "heliograph-relay").isEmpty)
        }

        @Test("the portal's restore token is kept for its owner alone and replaced at every start")
        func restoreToken() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                let first = try desktop.restoreTokenFile()
                try await relay.post("/screencapture/broadcast/stop")
                try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
                // This portal issues the same token again. Another file means that it was saved again.
                #expect(try desktop.restoreTokenFile() != first)
            }
        }
    }
}
