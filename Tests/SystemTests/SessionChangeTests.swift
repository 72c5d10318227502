import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    @Suite("Encoders and changes of sessions")
    struct SessionChangeTests {
        private static let source: RelayProcess.Object = [
            "kind": "test-pattern", "width": 640, "height": 360, "fps": 60,
        ]
        private static let size = PictureSize(width: 320, height: 180)
        private static let otherSize = PictureSize(width: 480, height: 270)

        /// Runs `body` with a relay that captures the test pattern.
        private func withTestPattern(_ body: (RelayProcess) async throws -> Void) async throws {
            try await SystemTests.withBroadcast(of: Desktop(.none), source: Self.source) { try await body($1) }
        }

        /// Starts a session at 10 fps that makes no keyframe for reasons of time.
        private func session(_ codec: Codec, _ encoder: String, _ relay: RelayProcess) async throws
            -> RelayProcess.Object
        {
            try await relay.startSession([
                "codec": codec.rawValue, "encoder": encoder, "framing": "scrcpy", "fps": 10, "keyframeInterval": 60,
                "width": Self.size.width, "height": Self.size.height,
            ])
        }

        @Test(
            "each software encoder, called directly or by libavcodec, makes a stream that decodes without a fault",
            arguments: [(Codec.h264, "x264"), (.h265, "x265"), (.h264, "libx264"), (.h265, "libx265")]
        )
        func encoders(codec: Codec, encoder: String) async throws {
            try await withTestPattern { relay in
                let session = try await session(codec, encoder, relay)
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(20, at: viewer)
                let pictures = viewer.pictures
                let stream = pictures.flatMap(\.bytes)
                let decoded = try FFmpeg.decodeLuma(stream, codec: codec, size: Self.size)
                #expect(decoded.count == pictures.count)
                #expect(decoded.allSatisfy { Pictures.counter(luma: $0, size: Self.size) != nil })
                let sets = viewer.current.parameterSets
                #expect(ParameterSets(leading: stream, codec: codec)?.bytes == sets)
                // The encoder's own sets, and the picture parameter set of repeats.
                #expect(AnnexB.units(in: sets).count == (codec == .h264 ? 3 : 4))
                let path = "/screencapture/\(session.integer("id"))"
                _ = try await eventually("the encoder's name") {
                    try await relay.get(path).string("encoder") == encoder ? true : nil
                }
                let status = try await relay.get(path)
                #expect(status.string("requestedEncoder") == encoder)
                #expect(status["encoderRestarts"] as? Int == 0)
                #expect(status.string("error") == nil)
            }
        }

        @Test(
            "bitrate and frame rate change without a keyframe, or with one if the encoder needs it; the size always with one",
            arguments: zip([(Codec.h264, "x264"), (.h264, "libx264"), (.h265, "x265")], [1, 1, 2])
        )
        func changes(session asked: (codec: Codec, encoder: String), keyframes: Int) async throws {
            let (codec, encoder) = asked
            try await withTestPattern { relay in
                let session = try await session(codec, encoder, relay)
                let path = "/screencapture/\(session.integer("id"))"
                let viewer = try SystemTests.viewer(of: session)
                try await SystemTests.waitForPictures(10, at: viewer)

                let known = viewer.pictures.count
                let changed = try await relay.patch(path, ["bitrate": 500_000, "fps": 20])
                #expect(changed.integer("bitrate") == 500_000 && changed.integer("fps") == 20)
                try await SystemTests.waitForPictures(30, at: viewer)
                let rated = viewer.pictures
                #expect(rated.count { $0.isKeyframe } == keyframes)
                expectRates(of: rated, known: known)

                let size = Self.otherSize
                try await relay.patch(path, ["width": size.width, "height": size.height])
                _ = try await eventually("a keyframe") {
                    viewer.pictures.count { $0.isKeyframe } > keyframes ? true : nil
                }
                try await SystemTests.waitForPictures(10, at: viewer)
                let pictures = viewer.pictures
                #expect(!viewer.current.isClosed)
                #expect(pictures.count { $0.isKeyframe } == keyframes + 1)
                #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
                // Split at keyframes, because ffmpeg's output does not take another rate.
                let starts = pictures.indices.filter { pictures[$0].isKeyframe }
                for (start, end) in zip(starts, starts.dropFirst() + [pictures.endIndex]) {
                    let stream = pictures[start..<end].flatMap(\.bytes)
                    let expected = start == starts.last ? size : Self.size
                    let properties = try FFmpeg.streamProperties(stream, codec: codec)
                    #expect(properties["width"] == "\(expected.width)" && properties["height"] == "\(expected.height)")
                    let decoded = try FFmpeg.decodeLuma(stream, codec: codec, size: expected)
                    #expect(decoded.count == end - start)
                }
                let status = try await relay.get(path)
                #expect(status.integer("width") == size.width && status.integer("height") == size.height)
                #expect(status.integer("viewers") == 1)
            }
        }

        /// Expects the steps of 10 fps between the first `known` pictures, and those of 20 fps after them.
        ///
        /// On a busy machine a step may be longer, but never shorter than a slot.
        private func expectRates(of pictures: [ScrcpyViewer.Picture], known: Int) {
            let steps = zip(pictures, pictures.dropFirst()).map { Int($1.pts - $0.pts) }
            let (before, after) = (steps[..<(known - 1)], steps[(known - 1)...])
            #expect(before.allSatisfy { $0 >= 99_999 }, "\(steps)")
            #expect(after.allSatisfy { $0 >= 49_999 }, "\(steps)")
            #expect(after.contains { $0 <= 50_001 }, "\(steps)")
        }

        @Test("an encoder that is not there, or of the other codec, is the session's error and no other session's")
        func missingEncoder() async throws {
            try await withTestPattern { relay in
                let good = try await session(.h264, "auto", relay)
                for encoder in ["h264_nowhere", "x265"] {
                    let bad = try await session(.h264, encoder, relay)
                    let error = try await eventually("the error") {
                        try await relay.get("/screencapture/\(bad.integer("id"))").string("error")
                    }
                    #expect(error.contains(encoder), "\(error)")
                }
                let viewer = try SystemTests.viewer(of: good)
                try await SystemTests.waitForPictures(5, at: viewer)
                #expect(try await relay.get("/screencapture/\(good.integer("id"))").string("error") == nil)
            }
        }

        @Test("the status lists the encoders that work here, and why others do not")
        func encoderList() async throws {
            try await withTestPattern { relay in
                let reports = try await eventually("the software encoders") {
                    () -> [String: RelayProcess.Object]? in
                    let status = try await relay.get("/screencapture/broadcast")
                    let reports = status["encoders"] as? [RelayProcess.Object] ?? []
                    let byName = Dictionary(uniqueKeysWithValues: reports.map { ($0.string("name") ?? "", $0) })
                    return byName["x264"] == nil || byName["x265"] == nil ? nil : byName
                }
                for (name, codec) in [("x264", "h264"), ("x265", "h265")] {
                    #expect(reports[name]?["available"] as? Bool == true)
                    #expect(reports[name]?.string("codec") == codec)
                }
                for report in reports.values where report["available"] as? Bool != true {
                    #expect(report.string("reason")?.isEmpty == false)
                }
            }
        }

        @Test("heliograph watches H.265 and changes a session")
        func command() async throws {
            try await withTestPattern { relay in
                let address = ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"]
                func heliograph(_ arguments: String...) throws -> Programs.Outcome {
                    try Programs.run(Programs.product("heliograph"), arguments, environment: address)
                }
                let file = NSTemporaryDirectory() + "heliograph-\(UUID().uuidString).h265"
                defer { try? FileManager.default.removeItem(atPath: file) }
                let watched = try heliograph(
                    "watch",
                    "--codec",
                    "hevc",
                    "--encoder",
                    "x265",
                    "--output",
                    file,
                    "--duration",
                    "3"
                )
                #expect(watched.status == 0, "\(watched.errors)")
                let properties = try FFmpeg.streamProperties(
                    try Data(contentsOf: URL(fileURLWithPath: file)),
                    codec: .h265
                )
                #expect(properties["codec_name"] == "hevc")
                #expect(try heliograph("watch", "1", "--codec", "h265", "--output", file).status == 64)

                let id = try await session(.h265, "auto", relay).integer("id")
                let changed = try heliograph("set", "\(id)", "--fps", "12", "--width", "160", "--height", "source")
                #expect(changed.status == 0, "\(changed.errors)")
                #expect(changed.output.hasPrefix("session \(id): h265 "), "\(changed.output)")
                let status = try await relay.get("/screencapture/\(id)")
                #expect(status.integer("fps") == 12)
                _ = try await eventually("the size") {
                    let status = try await relay.get("/screencapture/\(id)")
                    return status.integer("width") == 160 && status.integer("height") == 90 ? true : nil
                }
                #expect(try heliograph("set", "\(id)", "--on-demand", "--join", "live").status == 0)
                let watching = try await relay.get("/screencapture/\(id)")
                #expect(watching.string("join") == "live" && watching["onDemand"] as? Bool == true)
                #expect(try heliograph("set", "\(id)", "--no-on-demand").status == 0)
                #expect(try await relay.get("/screencapture/\(id)")["onDemand"] as? Bool == false)
                #expect(try heliograph("set", "\(id)", "--join", "now").status == 64)
                #expect(try heliograph("set", "\(id)").status == 64)
                #expect(try heliograph("set", "999", "--fps", "12").status == 1)
                #expect(try heliograph("watch", "\(id)", "--output", file, "--duration", "2").status == 0)
                let other = try FFmpeg.streamProperties(try Data(contentsOf: URL(fileURLWithPath: file)), codec: .h265)
                #expect(other["width"] == "160")
            }
        }
    }
}
