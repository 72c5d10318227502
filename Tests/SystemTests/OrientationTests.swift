import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of rotated screens. The agent encodes the picture as the desktop delivers it. The orientation says how a
    /// player makes it upright.
    @Suite("Orientation")
    struct OrientationTests {
        private static func orientation(_ relay: RelayProcess) async throws -> (source: Int, session: Int) {
            let status = try await relay.get("/screencapture/broadcast")
            let session = try await relay.get("/screencapture/1")
            return (status.object("source").integer("orientation"), session.integer("orientation"))
        }

        @Test("what a producer says of its pictures' turn reaches the status", arguments: [0, 3, 5, 6])
        func producer(transform: Int) async throws {
            let desktop = try Desktop(.none)
            try desktop.startNode("screen", size: "64x32", buffers: ["--transform", String(transform)])
            try await SystemTests.withBroadcast(of: desktop, source: ["kind": "node", "node": "screen"]) { _, relay in
                let viewer = try SystemTests.viewer(of: try await relay.startSession(["framing": "scrcpy"]))
                try await SystemTests.waitForPictures(5, at: viewer)
                let told = try await Self.orientation(relay)
                // Transforms 4 to 7 are mirrored.
                #expect(told.source == transform % 4 && told.session == transform % 4)
            }
        }

        @Test(
            "the stream itself says how its pictures are turned, and repeats do",
            arguments: [(Codec.h264, 1), (.h264, 3), (.h265, 2), (.h265, 0)]
        )
        func inBand(codec: Codec, transform: Int) async throws {
            let desktop = try Desktop(.none)
            try desktop.startNode("screen", size: "64x32", holdAt: 10, buffers: ["--transform", String(transform)])
            try await SystemTests.withBroadcast(of: desktop, source: ["kind": "node", "node": "screen"]) { _, relay in
                let arguments: RelayProcess.Object = [
                    "framing": "scrcpy", "codec": codec.rawValue, "staticKeyframeInterval": 2,
                ]
                let viewer = try SystemTests.viewer(of: try await relay.startSession(arguments))
                _ = try await eventually("keyframes") {
                    viewer.pictures.count { $0.isKeyframe } >= 3 ? true : nil
                }
                let orientations = try FFmpeg.orientations(viewer.stream, codec: codec)
                #expect(orientations.count >= 60 && Set(orientations) == [transform])
            }
        }

        @Test(
            "a stream continues when its screen is turned, and the orientation makes it upright; screenshots as screencasts",
            arguments: ["portal", "screenshot"]
        )
        func turns(source: String) async throws {
            try await SystemTests.withBroadcast(source: ["kind": source]) { desktop, relay in
                let size = PictureSize(width: 1280, height: 720)
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(5, at: viewer)
                var stops: [(picture: Int, value: Int, orientation: Int)] = []
                var seen: Set<Int> = []
                for transform in ["90", "180", "270", "normal"] {
                    let before = try await Self.orientation(relay)
                    try desktop.turn(transform)
                    let now = try await eventually("another orientation") {
                        let now = try await Self.orientation(relay)
                        return now.source != before.source && now.session == now.source ? now : nil
                    }
                    seen.insert(now.session)
                    try desktop.pause()
                    let value = try desktop.shownValue()
                    try await SystemTests.waitForPictures(30, at: viewer)
                    stops.append((viewer.pictures.count - 1, value, now.session))
                    try desktop.resume()
                    try await SystemTests.waitForPictures(5, at: viewer)
                }
                #expect(seen == [0, 1, 2, 3])
                let pictures = viewer.pictures
                #expect(!viewer.current.isClosed)
                #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
                // Throws if the stream has any fault.
                let decoded = try FFmpeg.decodeLuma(h264: pictures.flatMap(\.bytes), size: size)
                let told = try FFmpeg.orientations(pictures.flatMap(\.bytes), codec: .h264)
                for stop in stops {
                    #expect(told[stop.picture] == stop.orientation)
                    let upright = Pictures.turned(decoded[stop.picture], size: size, quarterTurns: stop.orientation)
                    let turnedSize = stop.orientation % 2 == 0 ? size : PictureSize(width: 720, height: 1280)
                    #expect(Pictures.counter(luma: upright, size: turnedSize) == stop.value, "\(stop)")
                }
            }
        }
    }
}
