import Foundation
import Media
import Packaging
import TestSupport
import Testing

@Suite("Movies of other programs")
struct MovieSummaryTests {
    private static func summary(_ bytes: [UInt8]) throws -> MovieSummary {
        try MovieSummary(size: UInt64(bytes.count)) { Array(bytes.dropFirst(Int(clamping: $0)).prefix($1)) }
    }

    private static func movie(_ more: [String] = [], tags: [String: String] = [:], cover: Bool = false) throws
        -> [UInt8]
    {
        let scratch = try Scratch()
        let (file, picture) = (scratch.file("movie.mp4"), scratch.file("cover.jpg"))
        if cover { try MusicSource.makeCover(picture) }
        try MovieSource.make(file, tags: tags, cover: cover ? picture : nil, more)
        return [UInt8](try Data(contentsOf: file))
    }

    @Test("say what they hold, wherever their header is", arguments: [[], ["-movflags", "faststart"]])
    func whole(_ more: [String]) throws {
        let summary = try Self.summary(Self.movie(more))
        #expect(summary.duration == 2_000_000 && summary.fps == 25 && summary.keyframes == 2)
        #expect(summary.tracks.map(\.kind) == [.video, .audio])
        #expect(summary.tracks.map(\.codec).last == "mp4a.40.2")
        #expect(summary.tracks.first?.codec.hasPrefix("avc1.") == true)
        #expect(summary.size == PictureSize(width: 320, height: 180))
        #expect(summary.tags == MediaTags())
    }

    @Test(
        "tell their other codecs",
        arguments: zip(["libmp3lame", "ac3", "libopus", "alac"], ["mp4a.6b", "ac-3", "opus", "alac"])
    )
    func codecs(_ encoder: String, _ name: String) throws {
        let summary = try Self.summary(Self.movie(["-c:a", encoder, "-strict", "experimental"]))
        #expect(summary.tracks.last?.codec == name)
        #expect(summary.tracks.last?.soundCodec == (name == "opus" ? .opus : nil))
    }

    @Test("have titles and covers")
    func tags() throws {
        let tags = ["title": "Größe ♪", "artist": "Ann", "album": "One", "track": "3/12"]
        let summary = try Self.summary(Self.movie(tags: tags, cover: true))
        #expect(summary.tags.title == "Größe ♪" && summary.tags.artist == "Ann" && summary.tags.album == "One")
        #expect(summary.tags.track == "3/12" && summary.tags.cover?.prefix(2) == [0xFF, 0xD8])
        #expect(summary.tracks.count == 2)
    }

    @Test("that are fragmented are taken if they say how long they last")
    func fragmented() throws {
        #expect(throws: MovieSummary.Failure.noDuration) {
            try Self.summary(Self.movie(["-movflags", "frag_keyframe+empty_moov"]))
        }
    }

    @Test("of telephones that were held upright have the size that is shown")
    func turned() throws {
        let scratch = try Scratch()
        let (file, turned) = (scratch.file("movie.mp4"), scratch.file("turned.mp4"))
        try MovieSource.make(file)
        _ = try Tool.run(
            "/usr/bin/ffmpeg",
            ["-v", "error", "-i", file.path, "-c", "copy", "-metadata:s:v:0", "rotate=90", turned.path]
        )
        let summary = try Self.summary([UInt8](try Data(contentsOf: turned)))
        #expect(summary.size == PictureSize(width: 180, height: 320))
    }

    @Test("that last longer than a year are refused")
    func long() throws {
        var bytes = try Self.movie()
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: "mvhd".utf8) })
        // After the type: version, flags and dates; then the time scale.
        bytes.replaceSubrange((place + 16)..<(place + 20), with: [0, 0, 0, 1])
        bytes.replaceSubrange((place + 20)..<(place + 24), with: [0x7F, 0, 0, 0])
        #expect(throws: MovieSummary.Failure.noDuration) { try Self.summary(bytes) }
    }

    @Test("that are cut off or something else are refused, and never read beyond their end")
    func damaged() throws {
        let bytes = try Self.movie()
        for count in [0, 7, 8, 100, bytes.count / 2, bytes.count - 1] {
            #expect(throws: MovieSummary.Failure.self) { try Self.summary(Array(bytes.prefix(count))) }
        }
        #expect(throws: MovieSummary.Failure.notMP4) { try Self.summary(Array("not a movie at all".utf8)) }
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            var damaged = bytes
            // The header is at the end.
            for _ in 0..<4 {
                let place = bytes.count - 1 - Int(generator.next() % 2500)
                damaged[place] = UInt8(truncatingIfNeeded: generator.next())
            }
            _ = try? Self.summary(damaged)
        }
    }
}
