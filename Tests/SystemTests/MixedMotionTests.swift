import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    @Suite("Everything at once")
    struct MixedMotionTests {
        private static let rates = [10, 24, 30, 60]

        /// An event of the screen or of a session.
        private func change(
            _ desktop: Desktop,
            _ relay: RelayProcess,
            _ sessions: [RelayProcess.Object],
            _ generator: inout SeededGenerator
        ) async throws {
            let path = "/screencapture/\(sessions.randomElement(using: &generator)!.integer("id"))"
            switch Int.random(in: 0..<9, using: &generator) {
            case 0, 1: try desktop.pause()
            case 2, 3: try desktop.resume()
            case 4: try desktop.moveInTurns()
            case 5:
                let width = Int.random(in: 320...1280, using: &generator)
                try desktop.resize("\(width)x\(Int.random(in: 240...720, using: &generator))")
            case 6:
                try await relay.patch(path, ["bitrate": Int.random(in: 200_000...8_000_000, using: &generator)])
            case 7: try await relay.patch(path, ["fps": Self.rates.randomElement(using: &generator)!])
            default:
                let width = Int.random(in: 160...640, using: &generator)
                let size = ["width": width, "height": Int.random(in: 120...360, using: &generator)]
                try await relay.patch(path, size)
            }
        }

        /// Splits a stream at changed parameters, because ffmpeg's outputs do not take another rate.
        private func parts(_ pictures: [ScrcpyViewer.Picture], _ codec: Codec) -> [ArraySlice<ScrcpyViewer.Picture>] {
            var starts: [Int] = []
            var current: [UInt8]?
            for (index, picture) in pictures.enumerated() where picture.isKeyframe {
                let sets = ParameterSets(leading: picture.bytes, codec: codec)?.bytes
                if sets != current { starts.append(index) }
                current = sets
            }
            return zip(starts, starts.dropFirst() + [pictures.count]).map { pictures[$0..<$1] }
        }

        @Test("screens that move, rest and change their size, and sessions that change, decode without a warning")
        func decodes() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                let codecs = [Codec.h264, .h265]
                var sessions: [RelayProcess.Object] = []
                for codec in codecs {
                    sessions.append(
                        try await relay.startSession([
                            "codec": codec.rawValue, "fps": 30, "width": 640, "height": 360, "framing": "scrcpy",
                        ])
                    )
                }
                let viewers = try sessions.map(SystemTests.viewer)
                for viewer in viewers { try await SystemTests.waitForPictures(5, at: viewer) }
                var generator = SeededGenerator(seed: 4)
                let end = ContinuousClock.now + .seconds(Effort.choose(10, whole: 300))
                while ContinuousClock.now < end {
                    try await change(desktop, relay, sessions, &generator)
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...1500, using: &generator)))
                }
                for viewer in viewers { try await SystemTests.waitForPictures(5, at: viewer) }
                for (viewer, codec) in zip(viewers, codecs) {
                    let pictures = viewer.pictures
                    #expect(!viewer.current.isClosed)
                    #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
                    let parts = parts(pictures, codec)
                    #expect(parts.count > 1)
                    #expect(parts.reduce(0) { $0 + $1.count } == pictures.count, "it begins with a keyframe")
                    for part in parts {
                        let count = try FFmpeg.pictureCount(part.flatMap(\.bytes), codec: codec)
                        #expect(count == part.count)
                    }
                }
            }
        }
    }
}
