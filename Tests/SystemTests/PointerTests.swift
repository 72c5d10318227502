import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests on a static screen, so that every live picture comes from the pointer.
    @Suite("The mouse pointer")
    struct PointerTests {
        private static let size = PictureSize(width: 1280, height: 720)

        private func lastPicture(_ viewer: ScrcpyViewer) throws -> [UInt8] {
            try #require(try FFmpeg.decodeLuma(h264: viewer.stream, size: Self.size).last)
        }

        private func livePictures(_ relay: RelayProcess) async throws -> Int {
            try await relay.get("/screencapture/1").object("counters").object("agent").integer("encodedLive")
        }

        @Test("sway draws it into the picture, and its moves make live pictures")
        func sway() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                try desktop.pause()
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(75, at: viewer)
                let live = try await livePictures(relay)
                for x in [500, 400, 350, 320, 300] { try desktop.movePointer(x: x, y: 200) }
                _ = try await eventually("live pictures") { try await livePictures(relay) >= live + 3 ? true : nil }
                try await SystemTests.waitForPictures(60, at: viewer)
                let bare = Pictures.patternLuma(value: try desktop.shownValue(), size: Self.size)
                let middle = try #require(Pictures.middleOfDifference(try lastPicture(viewer), bare, size: Self.size))
                #expect(abs(middle.x - 306) < 12 && abs(middle.y - 210) < 16, "\(middle)")
            }
        }

        @Test("Mutter tells where it is: it is drawn there, goes with it, and is left out if it must stay hidden")
        func mutter() async throws {
            let desktop = try Desktop(.mutter, client: false)
            defer { desktop.end() }
            try desktop.movePointer(x: 640, y: 600)
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "mutter"]])
            let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(75, at: viewer)
            let below = try lastPicture(viewer)
            let live = try await livePictures(relay)
            try desktop.movePointer(x: 300, y: 200)
            _ = try await eventually("live pictures") { try await livePictures(relay) > live ? true : nil }
            try await SystemTests.waitForPictures(75, at: viewer)
            let above = try lastPicture(viewer)

            try await relay.post("/screencapture/broadcast/stop")
            let hidden: RelayProcess.Object = ["kind": "mutter", "cursor": "hidden"]
            try await relay.post("/screencapture/broadcast/start", ["source": hidden])
            try await SystemTests.waitForPictures(75, at: viewer)
            let bare = try lastPicture(viewer)
            for (picture, x, y) in [(below, 640.0, 600.0), (above, 300.0, 200.0)] {
                let middle = try #require(Pictures.middleOfDifference(picture, bare, size: Self.size))
                #expect(abs(middle.x - x - 6) < 12 && abs(middle.y - y - 10) < 16, "\(middle)")
            }
        }
    }
}
