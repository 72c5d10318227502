import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Tests of recordings on the disk, with a real agent and the players that people use.
    @Suite("A recording in the library")
    struct RecordingTests {
        /// A relay whose device shows the test pattern, with a library.
        private struct Place {
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
                "recordings-\(UUID().uuidString)"
            )

            var library: URL { directory.appendingPathComponent("library") }

            func relay(_ more: [String] = []) async throws -> RelayProcess {
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                return try await RelayProcess(
                    arguments: [
                        "--source", "test-pattern", "--fallback", "none", "--library", library.path, "--state-file",
                        directory.appendingPathComponent("state.json").path,
                    ] + more
                )
            }

            func end() { try? FileManager.default.removeItem(at: directory) }

            /// The files, by name.
            func files() throws -> [URL] {
                let all = FileManager.default.enumerator(at: library, includingPropertiesForKeys: nil)
                return (all?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "mp4" }
                    .sorted { $0.path < $1.path }
            }
        }

        private func waitUntilWritten(_ relay: RelayProcess, _ session: Int, bytes: Int = 1) async throws {
            _ = try await eventually("recorded pictures") {
                let recording = try await relay.get("/v1/sessions/\(session)").object("recording")
                return recording.integer("bytes") >= bytes ? true : nil
            }
        }

        private func items(_ relay: RelayProcess) async throws -> [RelayProcess.Object] {
            let page = try await relay.get("/v1/library?order=oldest")
            return page["items"] as? [RelayProcess.Object] ?? []
        }

        /// Plays a file with ffmpeg and GStreamer, which must not complain.
        private func expectPlayable(_ file: URL) throws {
            let said = try Tool.run("/usr/bin/ffmpeg", ["-v", "warning", "-i", file.path, "-f", "null", "-"])
            #expect(said.isEmpty)
            _ = try Tool.run(
                "/usr/bin/gst-launch-1.0",
                ["-q", "filesrc", "location=\(file.path)", "!", "qtdemux", "!", "h264parse", "!", "avdec_h264", "!"]
                    + ["fakesink"]
            )
        }

        @Test("of a relay that is killed is completed by the next one, which goes on in another file")
        func killed() async throws {
            let place = Place()
            defer { place.end() }
            let first = try await place.relay()
            _ = try await first.post("/v1/devices/default/broadcast/start", ["timeout": 30])
            let session = try await first.startSession(["record": true]).integer("id")
            try await waitUntilWritten(first, session, bytes: 10_000)
            first.kill()

            let second = try await place.relay()
            defer { second.terminate() }
            let broken = try #require(try await items(second).first)
            #expect(broken.string("state") == "complete")
            try await waitUntilWritten(second, session)
            let items = try await self.items(second)
            #expect(items.count == 2 && items[1].string("state") == "recording")
            #expect(items.map { $0.string("recording") }.allSatisfy { $0 == broken.string("recording") })
            #expect(items.map { $0.integer("number") } == [0, 1])
            _ = try await second.post("/v1/sessions/\(session)/record/stop")
            let files = try place.files()
            #expect(files.count == 2)
            for file in files { try expectPlayable(file) }
        }

        @Test("of a device that is always recorded begins with its broadcast, and ends when a caller stops it")
        func device() async throws {
            let place = Place()
            defer { place.end() }
            let relay = try await place.relay(["--record"])
            defer { relay.terminate() }
            #expect(try await items(relay).isEmpty)
            _ = try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 30])
            _ = try await eventually("the recording and its thumbnail") {
                let item = try await self.items(relay).first
                return item.map { $0.integer("bytes") > 0 && $0["thumbnail"] as? Bool == true } == true ? true : nil
            }
            let stopped = try await relay.post("/v1/devices/default/record/stop")
            #expect(stopped["record"] as? Bool == false)
            let items = try await self.items(relay)
            #expect(items.count == 1 && items[0].string("state") == "complete")
            try expectPlayable(try #require(try place.files().first))
            let path = "/v1/library/\(items[0].integer("id"))"
            let address = "http://127.0.0.1:\(relay.httpPort)\(path)"
            let storyboard = try Tool.run("/usr/bin/curl", ["-sf", "\(address)/storyboard.vtt"])
            #expect(storyboard.hasPrefix("WEBVTT\n\n00:00:00.") && storyboard.contains("\nstoryboard/0#xywh=0,0,320,"))
            for picture in ["thumbnail.jpg", "storyboard/0"] {
                let file = place.directory.appendingPathComponent("picture.jpg")
                _ = try Tool.run("/usr/bin/curl", ["-sf", "-o", file.path, "\(address)/\(picture)"])
                let size = try Tool.run(
                    "/usr/bin/ffprobe",
                    ["-v", "warning", "-show_entries", "stream=width", "-of", "csv=p=0", file.path]
                )
                #expect(size.trimmingCharacters(in: .whitespacesAndNewlines) == "320")
            }
        }

        @Test("is backed up with its pin, lost by a rebuild from the files, and restored")
        func maintenance() async throws {
            let place = Place()
            defer { place.end() }
            func library(_ arguments: String..., fails: Bool = false) throws -> String {
                let said = try Programs.run(
                    Programs.product("heliograph"),
                    ["library"] + arguments + ["--library", place.library.path]
                )
                #expect((said.status != 0) == fails, "\(said)")
                return said.output + said.errors
            }
            let copy = place.directory.appendingPathComponent("catalogue.backup").path
            let first = try await place.relay()
            _ = try await first.post("/v1/devices/default/broadcast/start", ["timeout": 30])
            let session = try await first.startSession(["record": true]).integer("id")
            try await waitUntilWritten(first, session, bytes: 10_000)
            _ = try await first.post("/v1/sessions/\(session)/record/stop")
            let item = try #require(try await items(first).first).integer("id")
            _ = try await first.patch("/v1/library/\(item)", ["pinned": true, "labels": ["build=42"]])
            #expect(try library("backup", copy).isEmpty)
            #expect(try library("rebuild", fails: true).contains("Stop it, or choose another folder."))
            first.terminate()

            #expect(try library("rebuild") == "recordings in the new catalogue: 1\n")
            #expect(try library("restore", copy).isEmpty)
            let second = try await place.relay()
            defer { second.terminate() }
            let restored = try await second.get("/v1/library/\(item)")
            #expect(restored["pinned"] as? Bool == true && restored.object("labels")["build"] as? String == "42")
            #expect(try library("backup", "/nowhere/copy", fails: true).contains("Cannot use '/nowhere/copy"))
        }

        @Test("begins another file when the picture's size changes, and loses no picture")
        func resized() async throws {
            let place = Place()
            defer { place.end() }
            let relay = try await place.relay()
            defer { relay.terminate() }
            _ = try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 30])
            let session = try await relay.startSession(["record": true, "fps": 30]).integer("id")
            try await waitUntilWritten(relay, session, bytes: 10_000)
            _ = try await relay.patch("/v1/sessions/\(session)", ["width": 320, "height": 180])
            _ = try await eventually("a second file") { try await self.items(relay).count == 2 ? true : nil }
            try await waitUntilWritten(relay, session, bytes: 10_000)
            _ = try await relay.post("/v1/sessions/\(session)/record/stop")
            let items = try await self.items(relay)
            #expect(items.map { $0.integer("width") }.last == 320)
            for file in try place.files() { try expectPlayable(file) }
            // The second file begins when the first one ends.
            let times = try items.map { item in
                let start = try Date(
                    #require(item.string("start")),
                    strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)
                )
                return (start: start, seconds: (item["seconds"] as? NSNumber)?.doubleValue ?? 0)
            }
            #expect(times.allSatisfy { $0.seconds > 0.3 })
            #expect(abs(times[1].start.timeIntervalSince(times[0].start) - times[0].seconds) < 0.02)
        }
    }
}
