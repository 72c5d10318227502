import Foundation
import FoundationNetworking
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of snapshots of a real desktop.
    @Suite("Snapshots")
    struct SnapshotTests {
        private static let size = PictureSize(width: 1280, height: 720)

        /// The counter that a file in `directory` shows.
        private static func counter(_ bytes: Data, _ name: String, in directory: URL) throws -> Int? {
            let file = directory.appendingPathComponent(name)
            try bytes.write(to: file)
            return Pictures.counter(luma: try FFmpeg.luma(ofPictureAt: file.path, size: size), size: size)
        }

        private static func get(_ relay: RelayProcess, _ path: String) async throws -> Data {
            let url = URL(string: "http://127.0.0.1:\(relay.httpPort)\(path)")!
            let (data, response) = try await URLSession.shared.data(from: url)
            try #require((response as? HTTPURLResponse)?.statusCode == 200, "\(String(decoding: data, as: UTF8.self))")
            return data
        }

        private static func session(_ relay: RelayProcess) async throws {
            let session = try await relay.startSession(["fps": 30, "framing": "scrcpy"])
            try await SystemTests.waitForPictures(5, at: try SystemTests.viewer(of: session))
        }

        @Test("a fresh one shows no less than the screen did when it was asked for, in both formats")
        func fresh() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                try await Self.session(relay)
                var values: [Int] = []
                for round in 0..<3 {
                    for name in ["snapshot.jpg", "snapshot.png"] {
                        // The screen's current value.
                        let before = try FFmpeg.luma(ofPictureAt: desktop.screenshot(), size: Self.size)
                        let least = try #require(Pictures.counter(luma: before, size: Self.size))
                        let snapshot = try await Self.get(relay, "/screencapture/1/\(name)?fresh=true")
                        let value = try #require(try Self.counter(snapshot, name, in: desktop.directory))
                        #expect(value >= least, "round \(round)")
                        values.append(value)
                    }
                }
                #expect(values == values.sorted() && Set(values).count == values.count, "\(values)")
            }
        }

        @Test("of a static screen is the screen: PNG to the bit")
        func snapshot() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                try await Self.session(relay)
                try desktop.pause()
                let value = try desktop.shownValue()
                let (screen, size) = (desktop.screenshot, Self.size)
                let snapshot = try await eventually("the value that is shown") { () -> Data? in
                    let snapshot = try await Self.get(relay, "/screencapture/1/snapshot.png?fresh=true")
                    return try Self.counter(snapshot, "snapshot.png", in: desktop.directory) == value ? snapshot : nil
                }
                _ = snapshot
                let file = desktop.directory.appendingPathComponent("snapshot.png").path
                let ours = try FFmpeg.luma(ofPictureAt: file, size: size)
                #expect(ours == (try FFmpeg.luma(ofPictureAt: try screen(), size: size)))
                let jpeg = try await Self.get(relay, "/screencapture/1/snapshot.jpg")
                #expect(try Self.counter(jpeg, "snapshot.jpg", in: desktop.directory) == value)
                let path = desktop.directory.appendingPathComponent("snapshot.jpg").path
                #expect(Pictures.psnr(try FFmpeg.luma(ofPictureAt: path, size: size), ours) > 35)
            }
        }

        @Test("after the other is MJPEG, which moves, and is one picture on a static screen")
        func motionJPEG() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                try await Self.session(relay)
                let url = "http://127.0.0.1:\(relay.httpPort)/screencapture/1/stream.mjpeg?fps=10"
                let frames = desktop.directory.appendingPathComponent("%03d.png").path
                func play(_ count: Int) throws -> [Int?] {
                    let options = ["-v", "error", "-nostdin", "-f", "mpjpeg", "-i", url, "-frames:v", "\(count)"]
                    _ = try Tool.run(
                        "/usr/bin/ffmpeg",
                        options + ["-fps_mode", "passthrough", "-y", frames],
                        deadline: 60
                    )
                    return try (1...count).map { number in
                        let file = desktop.directory.appendingPathComponent(String(format: "%03d.png", number))
                        let luma = try FFmpeg.luma(ofPictureAt: file.path, size: Self.size)
                        return Pictures.counter(luma: luma, size: Self.size)
                    }
                }
                let moving = try play(20).compactMap { $0 }
                #expect(moving.count == 20)
                #expect(moving == moving.sorted() && Set(moving).count > 15, "\(moving)")
                try desktop.pause()
                let value = try desktop.shownValue()
                // Images in flight may come first.
                let snapshot = try play(3)
                #expect(snapshot.last == value)
            }
        }

        @Test(
            "is on the device's tile of the web page, which does not count as a viewer",
            .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop")
        )
        func tile() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": 30]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                _ = try await relay.startSession(["fps": 30])
                let browser = try Chromium()
                defer { browser.end() }
                try browser.open("http://127.0.0.1:\(relay.httpPort)/")
                try browser.wait(until: "document.querySelector('.thumbnail img:not([hidden])')?.naturalWidth > 0")
                try browser.wait(until: "document.querySelector('.thumbnail span').textContent === ''")
                #expect(try await relay.get("/screencapture/1").integer("viewers") == 0)
            }
        }

        @Test("is written by the command, whole or not at all")
        func command() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                try await Self.session(relay)
                func heliograph(_ arguments: String...) throws -> Programs.Outcome {
                    try Programs.run(
                        Programs.product("heliograph"),
                        arguments,
                        environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"],
                        directory: desktop.directory
                    )
                }
                for (name, arguments) in [
                    ("session-1.jpg", ["snapshot", "1"]), ("a.PNG", ["snapshot", "1", "--output", "a.PNG", "--fresh"]),
                    ("b.jpeg", ["snapshot", "1", "-o", "b.jpeg"]),
                ] {
                    let outcome = try Programs.run(
                        Programs.product("heliograph"),
                        arguments,
                        environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"],
                        directory: desktop.directory
                    )
                    #expect(outcome.status == 0, "\(outcome.errors)")
                    let file = desktop.directory.appendingPathComponent(name)
                    let luma = try FFmpeg.luma(ofPictureAt: file.path, size: Self.size)
                    #expect(Pictures.counter(luma: luma, size: Self.size) != nil)
                }
                #expect(try heliograph("snapshot", "1", "--output", "c.gif").status == 64)
                #expect(try heliograph("snapshot", "9", "--output", "c.jpg").status == 1)
                #expect(try heliograph("snapshot", "1", "--output", "nowhere/c.jpg").status == 1)
                let names = try FileManager.default.contentsOfDirectory(atPath: desktop.directory.path)
                #expect(!names.contains { $0.contains("c.jpg") || $0.hasSuffix(".part") })
            }
        }
    }
}
