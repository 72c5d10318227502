import Foundation
import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import Packaging
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

extension JSONValue {
    fileprivate var number: Int? { if case .integer(let number) = self { number } else { nil } }
}

/// A relay with a library in a folder of its own, and an agent that sends a real stream.
private struct RecordedSession {
    let relay: RunningRelay
    let link: LinkClient
    let id: SessionID
    let units: [AccessUnit]

    /// Sends pictures of the stream.
    func send(_ range: Range<Int>) async throws { try await link.send(Array(units[range]), session: id) }

    func recording() async throws -> JSONValue? { try await relay.session(id)["recording"] }

    /// Waits until the recording's current file has bytes.
    func waitUntilWritten(_ bytes: Int = 1) async throws {
        _ = try await eventually("a written fragment") {
            guard case .integer(let count)? = try await recording()?["bytes"], count >= bytes else {
                return nil as Bool?
            }
            return true
        }
    }

    /// Returns the items of the library, the oldest first.
    func items() async throws -> [JSONValue] {
        guard case .array(let items)? = try await relay.get("/v1/library?order=oldest").json["items"] else { return [] }
        return items
    }

    static func run(
        folder: Scratch,
        free: Int = 0,
        sound: RecordedSound? = nil,
        _ settings: SourceSettings = SourceSettings(name: "x264", keyframes: [0, 20], pictures: 60),
        body: @Sendable @escaping (RecordedSession) async throws -> Void
    ) async throws {
        let source = try SourceStream(settings)
        let units = SampleStream.accessUnits(of: source)
        let path = folder.file("library").path
        try await RunningRelay.run {
            ($0.library, $0.libraryFree) = (path, free)
            guard let sound else { return }
            ($0.devices[0].sound, $0.devices[0].recordedSound) = (.desktop, sound)
        } _: { relay in
            let session = try await relay.startSession(["record": true])
            let link = try await LinkClient(greeting: relay)
            try await body(RecordedSession(relay: relay, link: link, id: session.id, units: units))
        }
    }
}

@Suite("A recorded session", .serialized)
struct RecordingTests {
    @Test("is in the library with all its pictures, and its file plays without a message")
    func recorded() async throws {
        let scratch = try Scratch()
        try await RecordedSession.run(folder: scratch) { session in
            #expect(try await session.recording()?["state"] == "waiting")
            try await session.send(0..<60)
            try await session.waitUntilWritten()
            #expect(try await session.recording()?["state"] == "recording")
            let growing = try #require(try await session.items().first)
            #expect(growing["state"] == "recording")
            let stopped = try await session.relay.post("/v1/sessions/\(session.id)/record/stop")
            #expect(stopped.status == 200 && stopped.json["record"] == false && stopped.json["recording"] == .null)
            let item = try #require(try await session.items().first)
            #expect(item["state"] == "complete" && item["device"] == "default" && item["keyframes"] == 2)
            #expect(item["width"] == .integer(320) || item["width"] != 0)
            let id = try #require(item["id"]?.number)
            let file = try await session.relay.get("/v1/library/\(id)/file")
            #expect(file.status == 200 && file.headers.first(name: "Accept-Ranges") == "bytes")
            let output = try Scratch()
            let movie = try output.write(Array(file.body), to: "movie.mp4")
            let times = try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "warning", "-show_entries", "packet=pts", "-of", "csv=p=0", movie.path]
            )
            #expect(times.split(separator: "\n").count == 60)
            let messages = try Tool.run("/usr/bin/ffmpeg", ["-v", "warning", "-i", movie.path, "-f", "null", "-"])
            #expect(messages.isEmpty)
        }
    }

    @Test(
        "has the sound in the codecs that its device is set to, in its file and in HLS",
        arguments: zip(RecordedSound.allCases, [[.opus], [.aac], [.opus, .aac]] as [[SoundCodec]])
    )
    func sound(_ choice: RecordedSound, codecs: [SoundCodec]) async throws {
        let scratch = try Scratch()
        let opus = try OpusSource(seconds: 1, track: 1, scratch: scratch)
        let aac = try AACSource(seconds: 1, track: 2, scratch: scratch)
        let movie = scratch.file("movie.mp4")
        try await RecordedSession.run(folder: scratch, sound: choice) { session in
            try await session.link.send(.tracks(DeviceTracks([opus.track, aac.track])))
            try await session.send(0..<20)
            try await session.waitUntilWritten()
            let begin = Int64(NIODeadline.now().uptimeNanoseconds / 1000)
            let sound = (opus.units(from: begin) + aac.units(from: begin)).sorted { $0.pts < $1.pts }
            try await session.link.send(sound, session: 0)
            try await session.send(20..<60)
            _ = try await eventually("what was sent") {
                try await session.relay.session(session.id)["counters"]?["relay"]?["pictures"] == 60 ? true : nil
            }
            _ = try await session.relay.post("/v1/sessions/\(session.id)/record/stop")
            let item = try #require(try await session.items().first)
            let path = "/v1/library/\(try #require(item["id"]?.number))"
            try Data(try await session.relay.get("\(path)/file").body).write(to: movie)
            let address = "http://127.0.0.1:\(session.relay.ports.http)\(path)/hls"
            func packets(_ place: String) async throws -> [String: Int] {
                try await inThread {
                    let entries = ["-show_entries", "stream=codec_name,nb_read_packets", "-of", "csv=p=0"]
                    let found = try Tool.run(
                        "/usr/bin/ffprobe",
                        ["-v", "warning", "-count_packets"] + entries + [place]
                    )
                    let lines = found.split(separator: "\n").map { $0.split(separator: ",") }
                    return Dictionary(lines.map { (String($0[0]), Int($0[1]) ?? -1) }) { one, _ in one }
                }
            }
            let sent = [SoundCodec.opus: opus.packets.count, .aac: aac.packets.count]
            let expected = ["h264": 60].merging(codecs.map { ($0.rawValue, sent[$0] ?? 0) }) { one, _ in one }
            #expect(try await packets(movie.path) == expected)
            let variants = CheckedPlaylist(try await session.relay.get("\(path)/hls/index.m3u8").text)
            #expect(variants.faults.isEmpty && variants.variants.map { $0["AUDIO"] } == codecs.map(\.rawValue))
            for codec in SoundCodec.allCases {
                // Silence is before and after it, and instead of what is not recorded.
                let found = try await packets("\(address)/\(codec.rawValue)/index.m3u8")
                let least = codecs.contains(codec) ? sent[codec] ?? 0 : 0
                #expect(found.count == 1 && found[codec.rawValue] ?? 0 > least, "\(found)")
            }
        }
    }

    @Test("asks for Opus if the agent turns out to have no AAC")
    func withoutAAC() async throws {
        let opus = MediaTrack(id: 1, coding: .opus(try #require(OpusParameters(channels: 2, preSkip: 0))))
        try await RecordedSession.run(folder: Scratch(), sound: .aac) { session in
            func asked(for codec: SoundCodec) async throws {
                let _: Bool = try await session.link.first { packet in
                    guard case .listen(let order) = packet, order.wanted.contains(codec) else { return nil }
                    return true
                }
            }
            try await session.link.send(.tracks(DeviceTracks([opus, MediaTrack(id: 2, coding: .aac(.stereo))])))
            try await session.send(0..<1)
            try await asked(for: .aac)
            var report = DeviceTracks([opus])
            report.encodesAAC = false
            try await session.link.send(.tracks(report))
            try await asked(for: .opus)
        }
    }

    @Test("is read in ranges, and by clips that begin where they are asked to")
    func ranges() async throws {
        let scratch = try Scratch()
        try await RecordedSession.run(folder: scratch) { session in
            try await session.send(0..<60)
            try await session.waitUntilWritten()
            _ = try await session.relay.post("/v1/sessions/\(session.id)/record/stop")
            let id = try #require(try await session.items().first?["id"]?.number)
            let path = "/v1/library/\(id)"
            let whole = Array(try await session.relay.get("\(path)/file").body)
            for (range, expected) in [
                ("bytes=0-9", whole[0..<10]), ("bytes=100-", whole[100...]), ("bytes=-7", whole.suffix(7)),
                ("bytes=5-99999999", whole[5...]),
            ] {
                let part = try await session.relay.call(.GET, "\(path)/file", headers: [("Range", range)])
                #expect(part.status == 206 && Array(part.body) == Array(expected), "\(range)")
            }
            let beyond = try await session.relay.call(.GET, "\(path)/file", headers: [("Range", "bytes=99999999-")])
            #expect(beyond.status == 416 && beyond.json["code"] == "bad_range")
            let clip = try await session.relay.get("\(path)/clip?start=0.7&end=1.5")
            #expect(clip.status == 200)
            let output = try Scratch()
            let movie = try output.write(Array(clip.body), to: "clip.mp4")
            let duration = try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "warning", "-show_entries", "format=duration", "-of", "csv=p=0", movie.path]
            )
            #expect(
                Double(duration.trimmingCharacters(in: .whitespacesAndNewlines)).map { abs($0 - 0.8) < 0.01 } == true
            )
            #expect(try await session.relay.get("\(path)/clip?start=50&end=60").json["code"] == "out_of_range")
        }
    }

    @Test("is deleted and restored, pinned and labelled")
    func changes() async throws {
        let scratch = try Scratch()
        try await RecordedSession.run(folder: scratch) { session in
            try await session.send(0..<60)
            try await session.waitUntilWritten()
            let id = try #require(try await session.items().first?["id"]?.number)
            let path = "/v1/library/\(id)"
            let busy = try await session.relay.call(.DELETE, path)
            #expect(busy.status == 409 && busy.json["code"] == "item_in_use")
            _ = try await session.relay.post("/v1/sessions/\(session.id)/record/stop")
            let mark = try await session.relay.get("/v1/library/changes").json["mark"]
            let changed = try await session.relay.patch(path, ["pinned": true, "labels": ["build=42", "flaky=no"]])
            #expect(changed.json["pinned"] == true && changed.json["labels"]?["build"] == "42")
            #expect(try await session.relay.get("/v1/library?label=build=42&text=fla").json["items"] != .array([]))
            #expect(try await session.relay.get("/v1/library?pinned=false").json["items"] == .array([]))
            #expect(try await session.relay.call(.DELETE, path).status == 200)
            #expect(try await session.items().isEmpty)
            #expect(try await session.relay.get(path).json["code"] == "unknown_item")
            #expect(try await session.relay.post("\(path)/restore").status == 200)
            #expect(try await session.items().count == 1)
            let since = try #require(mark?.text)
            let changes = try await session.relay.get("/v1/library/changes?since=\(since.dropFirst().dropLast())").json
            #expect(changes["changed"] == .array([.integer(id)]))
        }
    }

    @Test("goes on in another file after the relay's end, of the same recording")
    func nextRun() async throws {
        let scratch = try Scratch()
        try await RecordedSession.run(folder: scratch) { session in
            try await session.send(0..<60)
            try await session.waitUntilWritten()
        }
        // The relay has completed the file at its end.
        try await RecordedSession.run(folder: scratch) { session in
            let items = try await session.items()
            #expect(items.count == 1 && items[0]["state"] == "complete")
            try await session.send(0..<60)
            try await session.waitUntilWritten()
            #expect(try await session.items().count == 2)
        }
    }

    @Test("pauses while its disk has too little free space, and stays live")
    func diskFull() async throws {
        let scratch = try Scratch()
        try await RecordedSession.run(folder: scratch, free: 1 << 60) { session in
            try await session.send(0..<60)
            _ = try await eventually("the failure") {
                try await session.recording()?["state"] == "disk_full" ? true : nil
            }
            #expect(try await session.recording()?["problem"]?.text.contains("The disk is full") == true)
            #expect(try await session.items().isEmpty)
            let pictures = try await session.relay.session(session.id)["counters"]?["relay"]?["pictures"]
            #expect(pictures == 60)
        }
    }

    @Test("that is written while it is watched begins and ends files with its viewers")
    func watched() async throws {
        let scratch = try Scratch()
        try await RecordedSession.run(folder: scratch) { session in
            _ = try await session.relay.patch("/v1/sessions/\(session.id)", ["recordWhen": "watched"])
            try await session.send(0..<20)
            #expect(try await session.recording()?["state"] == "waiting")
            // The change of the rule has ended the first recording.
            let before = try await session.items().count
            let port = try #require(try await session.relay.session(session.id)["port"]?.number)
            let viewer = try await ByteClient(port: port)
            _ = try await eventually("the viewer") {
                try await session.relay.session(session.id)["viewers"] == 1 ? true : nil
            }
            try await session.send(20..<40)
            try await session.waitUntilWritten()
            #expect(try await session.recording()?["state"] == "recording")
            try await viewer.close()
            _ = try await eventually("the file's end") {
                try await session.recording()?["state"] == "waiting" ? true : nil
            }
            let items = try await session.items()
            #expect(items.count == before + 1 && items.last?["state"] == "complete")
        }
    }

    @Test("may be a device's shared one, which its address starts and stops")
    func device() async throws {
        let scratch = try Scratch()
        try await RecordedSession.run(folder: scratch) { session in
            let path = "/v1/devices/default/record"
            #expect(try await session.relay.post("\(path)/stop").json["code"] == "unknown_session")
            let started = try await session.relay.post("\(path)/start").json
            #expect(started["record"] == true && started["name"] == "shared")
            let again = try await session.relay.post("\(path)/start").json
            #expect(again["id"] == started["id"])
            let stopped = try await session.relay.post("\(path)/stop").json
            #expect(stopped["id"] == started["id"] && stopped["record"] == false)
        }
    }

    @Test("counts in the library's usage and in the metrics")
    func usage() async throws {
        let scratch = try Scratch()
        try await RecordedSession.run(folder: scratch) { session in
            try await session.send(0..<60)
            try await session.waitUntilWritten()
            let labels = "{device=\"default\",session=\"\(session.id)\"}"
            let metrics = try await session.relay.get("/metrics").text
            for figure in ["active\(labels) 1", "failing\(labels) 0", "files_total\(labels) 1"] {
                #expect(metrics.contains("heliograph_session_recording_\(figure)\n"), "\(figure)")
            }
            _ = try await session.relay.post("/v1/sessions/\(session.id)/record/stop")
            let usage = try await session.relay.get("/v1/library/usage").json
            let item = try #require(try await session.items().first)
            #expect(usage["items"] == 1 && usage["bytes"] == item["bytes"])
            #expect(usage["freeBytes"] != 0 && usage["pausesBelow"] == 0 && usage["mostBytes"] == .null)
            guard case .array(let devices)? = usage["devices"] else { throw NeverCame(description: "the devices") }
            #expect(devices.count == 1 && devices[0]["device"] == "default" && devices[0]["items"] == 1)
        }
    }

    @Test("plays as HLS across files of different sizes, while it goes on and complete")
    func segments() async throws {
        let scratch = try Scratch()
        try await RecordedSession.run(folder: scratch) { session in
            try await session.send(0..<60)
            try await session.waitUntilWritten()
            let larger = try SourceStream(
                SourceSettings(name: "larger", size: PictureSize(width: 640, height: 360), keyframes: [0], pictures: 30)
            )
            try await session.link.send(SampleStream.accessUnits(of: larger, from: 60), session: session.id)
            let items = try await eventually("the second file") {
                let items = try await session.items()
                return items.count == 2 && items[1]["bytes"] != 0 ? items : nil
            }
            let id = try #require(items[0]["id"]?.number)
            let address = "http://127.0.0.1:\(session.relay.ports.http)/v1/library/\(id)/hls"
            let growing = CheckedPlaylist(try await session.relay.get("/v1/library/\(id)/hls/video/index.m3u8").text)
            #expect(growing.faults.isEmpty && growing.type == "EVENT" && growing.segments.count == 1)
            _ = try await session.relay.post("/v1/sessions/\(session.id)/record/stop")
            // Every file of the recording has the same playlist.
            var playlists: Set<String> = []
            for item in try await session.items() {
                let path = "/v1/library/\(try #require(item["id"]?.number))/hls"
                let variants = try await session.relay.get("\(path)/index.m3u8")
                #expect(variants.headers.first(name: "Content-Type") == "application/vnd.apple.mpegurl")
                #expect(CheckedPlaylist(variants.text).faults.isEmpty)
                #expect(CheckedPlaylist(variants.text).variants.map { $0["RESOLUTION"] } == ["640x360"])
                playlists.insert(try await session.relay.get("\(path)/video/index.m3u8").text)
            }
            #expect(playlists.count == 1)
            let complete = CheckedPlaylist(try #require(playlists.first))
            #expect(complete.faults.isEmpty && complete.isEnded && growing.faults(followedBy: complete).isEmpty)
            #expect(complete.segments.map(\.isDiscontinuous) == [false, true])
            let messages = try await inThread {
                let command = "ffmpeg -v warning -nostdin -i \(address)/index.m3u8 -f null - 2>&1"
                return try Tool.run("/bin/sh", ["-c", command])
            }
            // That of the other size, which it does not need.
            let lines = messages.split(separator: "\n")
            #expect(lines.allSatisfy { $0.contains("Found duplicated MOOV Atom") } && lines.count <= 1, "\(messages)")
            let times = try await inThread {
                try Tool.run(
                    "/usr/bin/ffprobe",
                    ["-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", "\(address)/index.m3u8"]
                )
            }
            #expect(times.split(separator: "\n").count == 90)
            let path = "/v1/library/\(id)/hls"
            for wrong in [
                "sound/index.m3u8", "mp3/index.m3u8", "mp3/init.mp4", "video/0/1.m4s", "video/0/x.m4s",
                "video/-1/0.m4s",
            ] {
                let answer = try await session.relay.get("\(path)/\(wrong)")
                #expect(answer.status == 404 && answer.json["code"] == "unknown_item", "\(wrong)")
            }
            let segment = try await session.relay.get("\(path)/video/0/0.m4s")
            #expect(segment.headers.first(name: "Cache-Control") == "private, max-age=31536000, immutable")
        }
    }

    @Test("needs a library")
    func noLibrary() async throws {
        try await RunningRelay.run { relay in
            let refused = try await relay.post("/v1/sessions", ["record": true])
            #expect(refused.status == 409 && refused.json["code"] == "library_unavailable")
            #expect(try await relay.get("/v1/library").json["code"] == "library_unavailable")
            let session = try await relay.startSession()
            let answer = try await relay.post("/v1/sessions/\(session.id)/record/start")
            #expect(answer.json["code"] == "library_unavailable")
            #expect(try await relay.session(session.id)["record"] == false)
        }
    }
}
