import Foundation
import Packaging
import TestSupport
import Testing

@Suite("MP3")
struct MP3Tests {
    private static func scan(_ bytes: [UInt8]) throws(MP3Scan.Failure) -> MP3Scan {
        try MP3Scan(size: UInt64(bytes.count)) { offset, count in
            Array(bytes.dropFirst(Int(clamping: offset)).prefix(count))
        }
    }

    /// How a file is made.
    struct Make: Sendable, CustomTestStringConvertible {
        var rate = 44_100
        var channels = 2
        /// The encoder's arguments: a bitrate, or a quality of a variable one.
        var quality = ["-b:a", "128k"]
        var seconds = 20.0
        /// Arguments about tags.
        var tags: [String] = []

        var testDescription: String {
            "\(rate) Hz, \(channels) channels, \(quality.joined(separator: " ")), \(seconds) s \(tags.joined(separator: " "))"
        }

        /// Makes the file of a tone.
        func bytes(_ scratch: Scratch) throws -> [UInt8] {
            let file = scratch.file("\(UUID().uuidString).mp3")
            let source = "sine=frequency=440:sample_rate=\(rate):duration=\(seconds)"
            _ = try Tool.run(
                "/usr/bin/ffmpeg",
                ["-v", "error", "-f", "lavfi", "-i", source, "-ac", "\(channels)", "-c:a", "libmp3lame"] + quality
                    + tags + [file.path]
            )
            return [UInt8](try Data(contentsOf: file))
        }
    }

    /// All rates, one and two channels, constant and variable bitrates, and tags of all kinds.
    static let makes: [Make] = {
        var makes: [Make] = []
        for rate in [22_050, 24_000, 32_000, 44_100, 48_000] {
            for channels in [1, 2] {
                for quality in [["-b:a", "64k"], ["-b:a", "160k"], ["-q:a", "2"], ["-q:a", "7"]] {
                    makes.append(Make(rate: rate, channels: channels, quality: quality, seconds: 13))
                }
            }
        }
        let names = [
            "-metadata", "title=Größe ♪", "-metadata", "artist=Ann", "-metadata", "album=One", "-metadata",
            "track=3/12",
        ]
        for version in [
            ["-id3v2_version", "3"], ["-id3v2_version", "4"], ["-id3v2_version", "4", "-write_id3v1", "1"],
        ] {
            makes.append(Make(seconds: 7, tags: version + names))
        }
        makes.append(Make(seconds: 7, tags: ["-id3v2_version", "0"]))
        makes.append(Make(seconds: 7, tags: ["-write_xing", "0"]))
        for seconds in [0.01, 0.1, 6.0, 12.0, 61.3] { makes.append(Make(seconds: seconds)) }
        return makes
    }()

    @Test("has exactly the frames and samples that ffmpeg finds, and its segments are its frames", arguments: makes)
    func frames(make: Make) throws {
        let scratch = try Scratch()
        let bytes = try make.bytes(scratch)
        let scan = try Self.scan(bytes)
        let file = try scratch.write(bytes, to: "whole.mp3").path
        let found = try Tool.run(
            "/usr/bin/ffprobe",
            ["-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets,sample_rate,channels", "-of"]
                + ["json", file]
        )
        let streams = try JSONSerialization.jsonObject(with: Data(found.utf8)) as? [String: Any]
        let stream = try #require((streams?["streams"] as? [[String: Any]])?.first)
        #expect(stream["nb_read_packets"] as? String == "\(scan.offsets.count)")
        #expect(stream["sample_rate"] as? String == "\(scan.rate)" && scan.rate == make.rate)
        #expect(stream["channels"] as? Int == scan.channels && scan.channels == make.channels)
        #expect(scan.frameSamples == (make.rate < 32_000 ? 576 : 1152))
        let hasTrim = !make.tags.contains("-write_xing")
        // What players cut off: ffmpeg does, if the encoder says how much.
        #expect(
            scan.samples == (hasTrim ? Int((make.seconds * Double(make.rate)).rounded()) : scan.offsets.count * 1152)
        )
        #expect(try FFmpeg.decodeSound(of: file).count == scan.samples)
        if make.tags.contains("artist=Ann") {
            #expect(scan.tags.artist == "Ann" && scan.tags.album == "One")
            #expect(scan.tags.title == "Größe ♪" && scan.tags.track == "3/12")
        }

        let cut = MP3Segments(scan)
        var frames: [UInt8] = []
        for segment in cut.segments {
            #expect(segment.frames * scan.frameSamples <= MP3Segments.longest * scan.rate)
            frames += bytes[Int(segment.offset)..<Int(segment.offset + segment.length)]
        }
        let expected = zip(scan.offsets, scan.sizes).flatMap { bytes[Int($0)..<(Int($0) + Int($1))] }
        #expect(frames == expected)
        #expect(cut.segments.reduce(0) { $0 + $1.frames } == scan.offsets.count)
    }

    @Test("plays as HLS from the first sample to the last", arguments: [makes[0], makes[12], makes[45]])
    func plays(make: Make) throws {
        let scratch = try Scratch()
        let bytes = try make.bytes(scratch)
        let scan = try Self.scan(bytes)
        let cut = MP3Segments(scan)
        let text = cut.playlist { segment, ticks in
            let name = "\(segment.offset).mp3"
            let frames = bytes[Int(segment.offset)..<Int(segment.offset + segment.length)]
            _ = try? scratch.write(MP3Segments.timestamp(ticks) + frames, to: name)
            return name
        }
        let file = try scratch.write(Array(text.utf8), to: "index.m3u8").path
        // HLS has no place for what an encoder has put around the sound.
        let whole = scan.offsets.count * scan.frameSamples
        // ffmpeg's writer of sound complains about two times that are equal after rounding.
        let outcome = try Programs.run(
            URL(fileURLWithPath: "/usr/bin/ffmpeg"),
            ["-v", "fatal", "-i", file, "-f", "f32le", "-ac", "1", scratch.file("sound").path]
        )
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let played = try Data(contentsOf: scratch.file("sound")).count / 4
        #expect(abs(played - whole) <= 2 * 1152, "\(played) of \(whole)")
    }

    @Test("is cut into segments of at most 6 s: very short, exact multiples, an odd rest, bytes between frames")
    func cuts() {
        func cut(_ frames: Int, gapAfter gap: Int? = nil) -> MP3Segments {
            var (offsets, place): ([UInt64], UInt64) = ([], 100)
            for number in 0..<frames {
                offsets.append(place)
                place += number == gap ? 500 : 400
            }
            let sizes = [UInt16](repeating: 400, count: frames)
            return MP3Segments(offsets: offsets, sizes: sizes, frameSamples: 1152, rate: 48_000)
        }
        #expect(cut(0).segments.isEmpty)
        #expect(cut(1).segments.map(\.frames) == [1])
        // A segment has 250 frames of 24 ms.
        #expect(cut(500).segments.map(\.frames) == [250, 250])
        #expect(cut(501).segments.map(\.frames) == [250, 250, 1])
        #expect(cut(300, gapAfter: 99).segments.map(\.frames) == [100, 200])
        #expect(cut(501).segments.map(\.start) == [0, 288_000, 576_000])
        #expect(
            cut(251).playlist { "\($0.offset)-\($1)" } == """
                #EXTM3U
                #EXT-X-VERSION:3
                #EXT-X-TARGETDURATION:6
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXTINF:6.000000,
                100-0
                #EXTINF:0.024000,
                100100-540000
                #EXT-X-ENDLIST

                """
        )
    }

    @Test("of which a part is missing or damaged gives what is whole")
    func damaged() throws {
        let scratch = try Scratch()
        let bytes = try Make(seconds: 3).bytes(scratch)
        let whole = try Self.scan(bytes)
        for missing in [1, 100, 400, 5000] {
            let end = UInt64(bytes.count - missing)
            let kept = zip(whole.offsets, whole.sizes).filter { $0 + UInt64($1) <= end }.count
            #expect(try Self.scan(Array(bytes.dropLast(missing))).offsets.count == kept)
        }
        // Bytes between two frames are skipped, and so are those before the first one.
        let place = Int(whole.offsets[50])
        let junk = [UInt8](repeating: 0x55, count: 3000)
        #expect(try Self.scan(bytes[..<place] + junk + bytes[place...]).offsets.count == whole.offsets.count)
        #expect(try Self.scan(junk + bytes[Int(whole.offsets[0])...]).offsets.count == whole.offsets.count)
        // Tags that players skip, too.
        let ape =
            Array("APETAGEX".utf8) + [0xD0, 7, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            + [UInt8](repeating: 0, count: 8)
        #expect(try Self.scan(bytes + ape).offsets.count == whole.offsets.count)
    }

    @Test("is known by the tag at its end if it has no other")
    func oldTag() throws {
        let scratch = try Scratch()
        let bytes = try Make(seconds: 1, tags: ["-id3v2_version", "0"]).bytes(scratch)
        func field(_ text: String, _ size: Int) -> [UInt8] {
            Array(text.unicodeScalars.map { UInt8($0.value) } + [UInt8](repeating: 0, count: size)).prefix(size) + []
        }
        let tag =
            Array("TAG".utf8) + field("Gr\u{F6}\u{DF}e ", 30) + field("Ann", 30) + field("One", 30) + field("2001", 4)
            + field("", 28) + [0, 3, 17]
        let scan = try Self.scan(bytes + tag)
        #expect(scan.offsets.count == (try Self.scan(bytes)).offsets.count)
        #expect(
            scan.tags.title == "Größe" && scan.tags.artist == "Ann" && scan.tags.album == "One"
                && scan.tags.track == "3"
        )
    }

    @Test("keeps the front cover")
    func cover() throws {
        let scratch = try Scratch()
        let picture = scratch.file("cover.jpg")
        try MusicSource.makeCover(picture)
        for version in ["3", "4"] {
            let file = scratch.file("\(version).mp3")
            try MusicSource.make(file, cover: picture, ["-id3v2_version", version])
            let scan = try Self.scan([UInt8](try Data(contentsOf: file)))
            #expect(try scan.tags.cover == [UInt8](Data(contentsOf: picture)))
        }
    }

    @Test("is refused with the reason if it is something else")
    func others() throws {
        #expect(throws: MP3Scan.Failure.notMP3) { try Self.scan([]) }
        #expect(throws: MP3Scan.Failure.notMP3) { try Self.scan(Array("RIFF, and so on".utf8)) }
        #expect(throws: MP3Scan.Failure.notMP3) { try Self.scan([UInt8](repeating: 0xFF, count: 100_000)) }
        #expect(throws: MP3Scan.Failure.unreadable) { try MP3Scan(size: 1000) { _, _ in nil } }
        let scratch = try Scratch()
        for (name, codec, failure) in [
            ("layer.mp2", "mp2", MP3Scan.Failure.otherLayer), ("sound.aac", "aac", .notMP3),
            ("sound.wav", "pcm_s16le", .notMP3),
            ("sound.flac", "flac", .notMP3), ("sound.opus", "libopus", .notMP3),
        ] {
            let file = scratch.file(name)
            _ = try Tool.run(
                "/usr/bin/ffmpeg",
                ["-v", "error", "-f", "lavfi", "-i", "sine=duration=2", "-c:a", codec, file.path]
            )
            #expect(throws: failure) { try Self.scan([UInt8](try Data(contentsOf: file))) }
        }
    }

    @Test("whatever the bytes, is refused or has frames that are in the file")
    func hostile() throws {
        let scratch = try Scratch()
        let tagged = try Make(seconds: 1, tags: ["-metadata", "title=A", "-id3v2_version", "3"]).bytes(scratch)
        var generator = SeededGenerator(seed: 5)
        for round in 0..<2000 {
            var bytes = tagged
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                let place = Int.random(in: 0..<(round % 2 == 0 ? 600 : bytes.count), using: &generator)
                bytes[place] = .random(in: 0...255, using: &generator)
            }
            if round % 5 == 0 { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))) }
            guard let scan = try? Self.scan(bytes) else { continue }
            let ends = zip(scan.offsets, scan.sizes).map { $0 + UInt64($1) }
            #expect(zip(ends, scan.offsets.dropFirst()).allSatisfy { $0 <= $1 })
            #expect((ends.last ?? 0) <= UInt64(bytes.count))
            _ = MP3Segments(scan)
        }
    }
}
