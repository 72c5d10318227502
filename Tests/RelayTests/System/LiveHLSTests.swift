import Access
import Foundation
import HeliographAPI
import Media
import NIOHTTP1
import Packaging
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A session as HLS")
struct LiveHLSTests {
    /// A relay with a session, and an agent that sends a real stream when it is told to.
    private struct Stage {
        let relay: RunningRelay
        let link: LinkClient
        let id: SessionID
        let units: [AccessUnit]
        var key: APIKey?

        func send(_ range: Range<Int>) async throws { try await link.send(Array(units[range]), session: id) }

        /// Begins the stream with half of the first group, once a client has asked.
        func begin() async throws {
            async let first = playlist("?_HLS_msn=0&_HLS_part=0")
            try await link.wait(for: id, isActive: true)
            try await send(0..<30)
            #expect(try await first.segments.isEmpty)
            #expect(try await playlist("?_HLS_msn=0&_HLS_part=4").lastParts.count == 5)
        }

        /// Sends two whole groups until they are recorded, and nobody joins at their last keyframe any more.
        func record() async throws {
            try await send(0..<120)
            _ = try await eventually("a recording") { () -> Bool? in
                let session = try await relay.session(id)
                guard session["counters"]?["relay"]?["pictures"] == 120 else { return nil }
                guard case .integer? = session["recording"]?["item"] else { return nil }
                return true
            }
            try await Task.sleep(for: .milliseconds(600))
        }

        /// Asks for the playlist after ``record()``, and sends pictures from the third group on once the relay follows
        /// them.
        func join(_ query: String = "", sending pictures: Range<Int> = 120..<130) async throws -> CheckedPlaylist {
            // A far place is refused at once, by a playlist that then exists.
            let far = "\(query.isEmpty ? "?" : query + "&")_HLS_msn=100000"
            #expect(try await relay.call(.GET, "/v1/sessions/\(id)/live.m3u8\(far)", key: key).status == 400)
            try await send(pictures)
            return try await playlist(query)
        }

        func playlist(_ query: String = "") async throws -> CheckedPlaylist {
            let answer = try await relay.call(.GET, "/v1/sessions/\(id)/live.m3u8\(query)", key: key)
            #expect(answer.status == 200, "\(answer.text)")
            let playlist = CheckedPlaylist(answer.text)
            #expect(playlist.faults.isEmpty, "\(playlist.faults)")
            return playlist
        }

        func file(_ address: String?) async throws -> [UInt8] {
            let answer = try await relay.call(.GET, "/v1/sessions/\(id)/\(try #require(address))", key: key)
            #expect(answer.status == 200, "\(answer.text)")
            return Array(answer.body)
        }

        /// - Parameters:
        ///   - library: The folder in which the session is recorded; `nil` for no recording.
        ///   - sound: The codecs of the recording's sound; `nil` for a device without sound.
        static func run(
            library: String? = nil,
            sound: RecordedSound? = nil,
            keys: Keys? = nil,
            body: @Sendable @escaping (Stage) async throws -> Void
        ) async throws {
            let source = try SourceStream(
                SourceSettings(name: "x264", keyframes: [0, 60, 120, 180], pictures: 200)
            )
            let units = SampleStream.accessUnits(of: source)
            try await RunningRelay.run {
                $0.library = library
                if let sound { ($0.devices[0].sound, $0.devices[0].recordedSound) = (.desktop, sound) }
                $0.keysFile = keys?.file.path
            } _: { relay in
                let session = try await relay.startSession([library == nil ? "onDemand" : "record": true])
                let link = try await LinkClient(greeting: relay)
                try await body(Stage(relay: relay, link: link, id: session.id, units: units))
            }
        }
    }

    @Test("has segments of whole groups and parts of 200 ms, which hold every picture once")
    func whole() async throws {
        try await Stage.run { stage in
            try await stage.begin()
            async let first = stage.playlist()
            try await stage.send(30..<70)
            let begun = try await first
            #expect(begun.segments.count == 1 && begun.control["CAN-BLOCK-RELOAD"] == "YES")
            #expect(abs(begun.segments[0].duration - 2) < 0.001 && begun.segments[0].parts.count == 10)
            try await stage.send(70..<200)
            let later = try await stage.playlist("?_HLS_msn=3&_HLS_part=2")
            #expect(later.segments.count == 3 && later.lastParts.count == 3)
            #expect(later.segments.first == begun.segments.first)
            // The segments are their parts, and hold the stream.
            var stream = try await stage.file(later.segments[0].map)
            for segment in later.segments {
                var parts: [UInt8] = []
                for part in segment.parts { parts += try await stage.file(part.address) }
                #expect(try await stage.file(segment.address) == parts)
                stream += parts
            }
            let bytes = stream
            let found = try await inThread {
                let scratch = try Scratch()
                let file = try scratch.write(bytes, to: "live.mp4")
                let messages = try Tool.run("/usr/bin/ffmpeg", ["-v", "warning", "-i", file.path, "-f", "null", "-"])
                let packets = try Tool.run(
                    "/usr/bin/ffprobe",
                    ["-v", "warning", "-show_entries", "packet=pts", "-of", "csv=p=0", file.path]
                )
                return (messages, packets.split(separator: "\n").count)
            }
            #expect(found.0.isEmpty && found.1 == 180)
        }
    }

    @Test("goes back to the recording's beginning, with pictures that only the file has")
    func recorded() async throws {
        let scratch = try Scratch()
        let movie = scratch.file("live.mp4")
        try await Stage.run(library: scratch.file("library").path) { stage in
            try await stage.record()
            let begun = try await stage.join()
            #expect(begun.segments.count == 1 && begun.segments[0].parts.isEmpty)
            #expect(abs(begun.segments[0].duration - 4) < 0.001)
            async let past = stage.file(begun.segments[0].address)
            try await stage.send(130..<200)
            let later = try await stage.playlist("?_HLS_msn=1")
            #expect(later.segments.first == begun.segments.first && later.segments.count == 2)
            let bytes = try await stage.file(begun.segments[0].map) + past + stage.file(later.segments[1].address)
            let found = try await inThread {
                try Data(bytes).write(to: movie)
                let messages = try Tool.run("/usr/bin/ffmpeg", ["-v", "warning", "-i", movie.path, "-f", "null", "-"])
                let packets = try Tool.run(
                    "/usr/bin/ffprobe",
                    ["-v", "warning", "-show_entries", "packet=pts,flags", "-of", "csv=p=0", movie.path]
                )
                return (messages, packets.split(separator: "\n").map(String.init))
            }
            #expect(found.0.isEmpty && found.1.count == 180, "\(found)")
            #expect(found.1.count { $0.contains("K") } == 3)
        }
    }

    @Test("goes back with the sound in a codec that is recorded, and not in another one", arguments: [true, false])
    func recordedSound(_ isRecorded: Bool) async throws {
        let scratch = try Scratch()
        let (library, movie) = (scratch.file("library").path, scratch.file("past.mp4"))
        try await Stage.run(library: library, sound: isRecorded ? .both : .opus) { stage in
            var tracks = DeviceTracks([
                MediaTrack(id: 1, coding: .opus(try #require(OpusParameters(channels: 2, preSkip: 0)))),
                MediaTrack(id: 2, coding: .aac(.stereo)),
            ])
            tracks.encodesAAC = true
            try await stage.link.send(.tracks(tracks))
            try await stage.record()
            // Without the past, the playlist needs a whole segment.
            let begun = try await stage.join("?audio=aac", sending: 120..<(isRecorded ? 130 : 200))
            #expect(begun.segments.first?.parts.isEmpty == isRecorded)
            guard isRecorded else { return }
            let bytes = try await stage.file(begun.segments[0].map) + stage.file(begun.segments[0].address)
            let found = try await inThread {
                try Data(bytes).write(to: movie)
                return try Tool.run(
                    "/usr/bin/ffprobe",
                    ["-v", "warning", "-show_entries", "packet=codec_type", "-of", "csv=p=0", movie.path]
                )
            }
            let types = found.split(separator: "\n")
            // 4 s: silence in packets of 1,024 samples.
            #expect(
                types.count { $0.contains("audio") } == 187 && types.count { $0.contains("video") } == 120,
                "\(types)"
            )
        }
    }

    @Test("keeps the recording from callers that may not look at it")
    func rights() async throws {
        let (scratch, keys) = (try Scratch(), try Keys())
        try await Stage.run(library: scratch.file("library").path, keys: keys) { stage in
            try await stage.record()
            let past = try #require(try await stage.join().segments.first?.address)
            var (viewer, outsider) = (stage, stage)
            viewer.key = try keys.make("viewer", .viewer)
            outsider.key = try keys.make("outsider", .viewer, library: [])
            try await stage.send(130..<200)
            let live = try await outsider.playlist()
            #expect(live.first == 1 && !live.segments.contains { $0.address == past })
            #expect(try await outsider.file(live.segments.first?.address).isEmpty == false)
            let path = "/v1/sessions/\(stage.id)/\(past)"
            let answer = try await stage.relay.call(.GET, path, key: outsider.key)
            #expect(answer.status == 403 && answer.code == "forbidden_library", "\(answer.text)")
            #expect(try await viewer.playlist().segments.first?.address == past)
            #expect(try await viewer.file(past).isEmpty == false)
        }
    }

    @Test("answers when the part that is asked for has come, and leaves out what the client has")
    func waits() async throws {
        try await Stage.run { stage in
            try await stage.begin()
            async let first = stage.playlist()
            try await stage.send(30..<61)
            let begun = try await first
            let hint = try #require(begun.hint)
            #expect(hint.hasSuffix("/1.0.m4s"))
            async let part = stage.file(hint)
            async let reload = stage.playlist("?_HLS_msn=1&_HLS_part=1&_HLS_skip=YES")
            try await stage.send(61..<73)
            #expect(try await part.isEmpty == false)
            let reloaded = try await reload
            #expect(reloaded.lastParts.map(\.address).first == hint && reloaded.lastParts.count == 2)
            let far = try await stage.relay.get("/v1/sessions/\(stage.id)/live.m3u8?_HLS_msn=9")
            #expect(far.status == 400 && far.json["code"] == "out_of_range")
            for wrong in ["live/none/0.m4s", "live/none/x", "live/none/init0.mp4", "live/none/-1.0.m4s"] {
                let answer = try await stage.relay.get("/v1/sessions/\(stage.id)/\(wrong)")
                #expect(answer.status == 404 && answer.json["code"] == "unknown_segment", "\(wrong)")
            }
        }
    }
}
