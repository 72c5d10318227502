import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of what producers may do with their buffers.
    @Suite("Buffers of every kind")
    struct BufferTests {
        private static let source: RelayProcess.Object = ["kind": "node", "node": "screen"]

        struct Case: CustomTestStringConvertible, Sendable {
            var size: PictureSize
            var options: [String]
            /// The picture's size, if it is only a part of the buffer.
            var picture: PictureSize?

            var testDescription: String { "\(size) \(options.joined(separator: " "))" }
        }

        private static let cases = [
            Case(size: PictureSize(width: 641, height: 361), options: ["--padding", "52"]),
            Case(size: PictureSize(width: 333, height: 257), options: ["--padding", "4", "--offset", "132"]),
            Case(
                size: PictureSize(width: 700, height: 400),
                options: ["--crop", "33,17,641,361", "--padding", "64"],
                picture: PictureSize(width: 641, height: 361)
            ),
            Case(
                size: PictureSize(width: 640, height: 360),
                options: ["--crop", "600,0,641,360"],
                picture: PictureSize(width: 640, height: 360)
            ),
            Case(size: PictureSize(width: 640, height: 360), options: ["--corrupted"]),
            Case(size: PictureSize(width: 641, height: 361), options: ["--dma-buf", "--padding", "52"]),
            Case(size: PictureSize(width: 640, height: 360), options: ["--stamps", "none"]),
            Case(size: PictureSize(width: 640, height: 360), options: ["--stamps", "late"]),
            Case(size: PictureSize(width: 640, height: 360), options: ["--stamps", "future"]),
            Case(size: PictureSize(width: 640, height: 360), options: ["--stamps", "repeated"]),
        ]

        @Test("the picture arrives completely and settles to what was sent", arguments: cases)
        func picture(_ shape: Case) async throws {
            // The agent ignores a crop that reaches beyond the buffer and shows the whole buffer: noise without a
            // counter.
            let isBelieved = shape.options.first != "--crop" || shape.picture != shape.size
            let value = 30
            let desktop = try Desktop(.none)
            try desktop.startNode("screen", size: shape.size.description, holdAt: value, buffers: shape.options)
            try await SystemTests.withBroadcast(of: desktop, source: Self.source) { _, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                // A second of moving pictures, and two of the last one.
                try await SystemTests.waitForPictures(90, at: viewer)
                let source = shape.picture ?? shape.size
                let decoded = try FFmpeg.decodeLuma(h264: viewer.stream, size: source.even)
                let fit = PictureFit(source: source, output: source.even)
                let values = decoded.map { Pictures.counter(luma: $0, size: source.even, content: fit) }
                guard isBelieved else {
                    #expect(decoded.count >= 90)
                    return
                }
                #expect(!values.contains(nil), "every picture shows a whole counter")
                #expect(values.compactMap(\.self) == values.compactMap(\.self).sorted(), "the screen never goes back")
                #expect(Set(values).count > 10 && values.last == value)
                let sent = Pictures.cropped(
                    Pictures.patternLuma(value: value, size: source),
                    size: source,
                    to: source.even
                )
                #expect(Pictures.psnr(try #require(decoded.last), sent) > 35)
            }
        }

        @Test("a pointer that moves over a static screen is drawn where the node says, and makes live pictures")
        func pointer() async throws {
            let size = PictureSize(width: 640, height: 360)
            let desktop = try Desktop(.none)
            try desktop.startNode("screen", size: "640x360", holdAt: 10, buffers: ["--pointer"])
            try await SystemTests.withBroadcast(of: desktop, source: Self.source) { _, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(150, at: viewer)
                let live = try await relay.get("/screencapture/1").object("counters").object("agent")
                #expect(live.integer("received") >= 3)
                let bare = Pictures.patternLuma(value: 10, size: size)
                let corners = [(100.0, 100.0), (140.0, 100.0), (140.0, 140.0), (100.0, 140.0)]
                var visited: [Int] = []
                for picture in try FFmpeg.decodeLuma(h264: viewer.stream, size: size)
                where Pictures.counter(luma: picture, size: size) == 10 {
                    guard let middle = Pictures.middleOfDifference(picture, bare, size: size, threshold: 24) else {
                        continue
                    }
                    let corner = corners.firstIndex { abs($0.0 - middle.x) < 10 && abs($0.1 - middle.y) < 10 }
                    if visited.last != corner { visited.append(try #require(corner)) }
                }
                #expect(visited.count >= 3)
                #expect(zip(visited, visited.dropFirst()).allSatisfy { ($0 + 1) % 4 == $1 }, "\(visited)")
            }
        }

        @Test("a node that goes on has its buffers back from every broadcast, and never runs out of them")
        func buffersReturned() async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            try desktop.startNode("screen", size: "640x360", buffers: [])
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
            let viewer = try SystemTests.viewer(of: session)
            // A producer has eight buffers; an agent holds up to three.
            for _ in 0..<8 {
                try await relay.post("/screencapture/broadcast/start", ["source": Self.source])
                try await SystemTests.waitForPictures(15, at: viewer)
                try await relay.post("/screencapture/broadcast/stop")
            }
            let size = PictureSize(width: 640, height: 360)
            let values = try SystemTests.counters(viewer, size: size, source: size)
            #expect(!values.contains(-1) && values == values.sorted())
            #expect(Set(values).count > 50, "all of them moved")
        }

        @Test("a node that changes its size again and again goes on in every viewer")
        func sizes() async throws {
            let sizes = ["641x361", "320x240", "853x480", "322x182", "24x12", "1280x720"]
            let desktop = try Desktop(.none)
            try desktop.startNode(
                "screen",
                size: "640x360",
                buffers: ["--sizes", sizes.joined(separator: ","), "--padding", "12"]
            )
            try await SystemTests.withBroadcast(of: desktop, source: Self.source) { _, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(300, at: viewer)
                // Throws if the stream has any fault.
                let pictures = viewer.pictures
                let small = PictureSize(width: 64, height: 64)
                #expect(try FFmpeg.decodeLuma(h264: pictures.flatMap(\.bytes), size: small).count == pictures.count)
                #expect(pictures.count(where: \.isKeyframe) > sizes.count, "each size begins with a keyframe")
            }
        }
    }
}
