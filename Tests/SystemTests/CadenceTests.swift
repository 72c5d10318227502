import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of what a viewer gets from a screen that is drawn 60 times a second.
    @Suite("Cadence and the last picture")
    struct CadenceTests {
        private static let fps = 30.0
        /// Large enough for the counter.
        private static let decodedSize = PictureSize(width: 320, height: 180)

        enum Motion: CaseIterable {
            case moving, `static`, turns
        }

        /// The pictures of a few seconds.
        private struct Window {
            var pictures: ArraySlice<ScrcpyViewer.Picture>
            /// The counter value of each picture.
            var values: ArraySlice<Int>

            private var duration: Double { Double(pictures.last!.pts - pictures.first!.pts) / 1e6 }

            /// Pictures per second, by their timestamps.
            var rate: Double { Double(pictures.count - 1) / duration }

            /// Different counter values per second.
            var distinctRate: Double { Double(Set(values).count - 1) / duration }

            /// The 99th percentile of gaps between timestamps, in s.
            var gap: Double { Self.percentile99(pictures.map { Double($0.pts) / 1e6 }) }

            /// The 99th percentile of gaps between arrivals, in s.
            var arrivalGap: Double { Self.percentile99(pictures.map { Double($0.arrived) / 1e9 }) }

            private static func percentile99(_ times: [Double]) -> Double {
                let gaps = zip(times, times.dropFirst()).map { $1 - $0 }.sorted()
                return gaps[gaps.count * 99 / 100]
            }

            func holdsCadence(_ motion: Motion) -> Bool {
                rate >= 0.99 * fps && gap <= 1.5 / fps && (motion != .moving || distinctRate >= 0.99 * fps)
            }
        }

        /// Waits for the pictures of a window and decodes them.
        private func window(at viewer: ScrcpyViewer) async throws -> Window {
            let first = viewer.pictures.count
            try await SystemTests.waitForPictures(Effort.choose(200, whole: 600), at: viewer)
            let pictures = viewer.pictures
            let keyframe = pictures[...first].lastIndex { $0.isKeyframe } ?? 0
            let decoded = try FFmpeg.decodeLuma(h264: pictures[keyframe...].flatMap(\.bytes), size: Self.decodedSize)
            let values = decoded.map { Pictures.counter(luma: $0, size: Self.decodedSize) ?? -1 }
            #expect(values.count == pictures.count - keyframe)
            return Window(pictures: pictures[first...], values: values[(first - keyframe)...])
        }

        @Test(
            "a session of 30 fps has 30 pictures a second, and as many different ones as it can",
            arguments: Motion.allCases
        )
        func cadence(_ motion: Motion) async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                let viewer = try SystemTests.viewer(of: session)
                switch motion {
                case .moving: break
                case .static: try desktop.pause()
                case .turns: try desktop.moveInTurns()
                }
                try await SystemTests.waitForPictures(30, at: viewer)
                var window = try await window(at: viewer)
                // A busy machine may cost a session slots, but never adds any. So the best of a few windows counts.
                for _ in 0..<Effort.choose(3, whole: 0) where !window.holdsCadence(motion) {
                    window = try await self.window(at: viewer)
                }
                #expect(window.rate >= 29.7 && window.rate <= 30.3)
                #expect(window.gap <= 1.5 / Self.fps)
                #expect(!window.values.contains(-1))
                #expect(Array(window.values) == window.values.sorted(), "the screen never goes back")
                switch motion {
                case .moving: #expect(window.distinctRate >= 29.7)
                case .static: #expect(Set(window.values).count == 1)
                case .turns: #expect(Set(window.values).count > window.values.count / 3)
                }
                if Effort.isWhole { #expect(window.arrivalGap <= 1.5 / Self.fps) }
                let pictures = viewer.pictures
                let steps = zip(pictures, pictures.dropFirst()).map { $1.pts - $0.pts }
                // Timestamps are whole µs.
                #expect(steps.allSatisfy { $0 >= 33_332 }, "two pictures are never closer than a slot")
            }
        }

        @Test("whenever the screen stops, the last decoded picture is what it shows")
        func lastPicture() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                // One session has the screen's size; a slow one leaves out most frames.
                let sessions = [
                    try await relay.startSession(["fps": 30, "framing": "scrcpy"]),
                    try await relay.startSession(["fps": 12, "width": 320, "height": 180, "framing": "scrcpy"]),
                ]
                let viewers = try sessions.map(SystemTests.viewer)
                let decoders = try sessions.map { _ in try LiveDecoder(.h264) }
                defer { decoders.forEach { $0.end() } }
                for viewer in viewers { try await SystemTests.waitForPictures(5, at: viewer) }
                var generator = SeededGenerator(seed: 4)
                for trial in 0..<Effort.choose(20, whole: 200) {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 20...150, using: &generator)))
                    try desktop.pause()
                    let value = try desktop.shownValue()
                    do {
                        for (viewer, decoder) in zip(viewers, decoders) {
                            // Nothing comes after this picture, so a stale one would stay.
                            _ = try await eventually("the picture of \(value) in trial \(trial)", limit: .seconds(10)) {
                                try decoder.feed(viewer.pictures)
                                return decoder.value == value ? true : nil
                            }
                        }
                    } catch {
                        try zip(viewers, decoders).forEach { try $1.feed($0.pictures) }
                        // A new session shows the agent's newest frame, and so whether agent or relay is at fault.
                        let fresh = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
                        let newest = try SystemTests.viewer(of: fresh)
                        try await SystemTests.waitForPictures(5, at: newest)
                        let size = Self.decodedSize
                        let captured = try FFmpeg.decodeLuma(h264: newest.stream, size: size).last.flatMap {
                            Pictures.counter(luma: $0, size: size)
                        }
                        Issue.record(
                            "\(error); shown \(decoders.map(\.value)), the agent's newest frame \(captured ?? -1)"
                        )
                        return
                    }
                    try desktop.resume()
                }
            }
        }
    }
}
