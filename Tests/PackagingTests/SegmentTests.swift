import Foundation
import Media
import Packaging
import TestSupport
import Testing

/// A recording of a real stream whose pictures have given times, and of packets of sound.
private struct Cut {
    /// The file as it was after each fragment.
    var growing: [[UInt8]] = []
    var file: [UInt8] = []

    static let sounds = [
        MediaTrack(id: 1, coding: .opus(OpusParameters(channels: 2, preSkip: 312)!)),
        MediaTrack(id: 2, coding: .aac(.stereo)),
    ]

    /// - Parameters:
    ///   - times: The PTS of the pictures, in µs.
    ///   - packets: The times of the packets of sound.
    ///   - codecs: Their codecs. Packets of AAC have other bytes than AAC has.
    init(
        _ settings: SourceSettings,
        times: [Int64],
        packets: [Int64] = [],
        in codecs: [SoundCodec] = [.opus],
        end: Int64
    ) throws {
        let source = try SourceStream(settings)
        let sounds = packets.isEmpty ? [] : Self.sounds.filter { $0.soundCodec.map(codecs.contains) ?? false }
        let tracks = [MediaTrack.video(source.codec)] + sounds
        var movie = HybridMovie<[UInt8]>(tracks: tracks, fps: 30, place: .sampleEntry)
        var units = zip(source.accessUnits.indices, times).map { index, time in
            var unit = Sample.accessUnit(pts: time, key: source.keyframes.contains(index), [])
            unit.bytes = source.accessUnits[index]
            return unit
        }
        for (number, time) in packets.enumerated() {
            for sound in sounds {
                var unit = Sample.accessUnit(pts: time, [])
                unit.header.track = sound.id
                unit.bytes = [0xFC, 0xFF, UInt8(truncatingIfNeeded: number)]
                units.append(unit)
            }
        }
        for unit in units.sorted(by: { Self.arrival(of: $0) < Self.arrival(of: $1) }) {
            if movie.isFragmentDue(at: unit.pts) {
                file += movie.takeBytes()
                growing.append(file)
            }
            try movie.append(unit)
        }
        file += movie.takeBytes()
        growing.append(file)
        for step in movie.ending(at: end) {
            let start = Int(step.offset)
            file.replaceSubrange(start..<min(file.count, start + step.bytes.count), with: step.bytes)
        }
    }

    /// Sound comes later than the pictures of its time.
    private static func arrival(of unit: AccessUnit) -> Int64 {
        unit.header.track == MediaTrack.videoID ? unit.pts : unit.pts + 300_000
    }

    static func scan(_ file: [UInt8]) throws -> MovieIndex {
        try RecordingScan(size: UInt64(file.count)) { Array(file.dropFirst(Int(clamping: $0)).prefix($1)) }.index
    }

    func index() throws -> MovieIndex { try Self.scan(file) }

    func bytes(of segment: MovieSegment) -> [UInt8] {
        segment.pieces.flatMap { piece in
            switch piece {
            case .bytes(let bytes): bytes
            case .file(let place): Array(file[Int(place.offset)..<Int(place.offset + place.length)])
            }
        }
    }
}

/// The samples of a segment, as a player reads them.
private struct Played {
    var times: [UInt64] = []
    var samples: [[UInt8]] = []
    /// When the last sample ends.
    var end: UInt64 = 0

    /// The first sample of H.264 without its parameter sets.
    var keyframe: [UInt8] {
        var rest = samples[0][...]
        while rest.count > 4, [7, 8].contains(rest[rest.startIndex + 4] & 0x1F) {
            rest = rest.dropFirst(4 + Int(rest.prefix(4).number))
        }
        return Array(rest)
    }

    init(_ segment: [UInt8]) throws {
        let boxes = try #require(Box.boxes(segment))
        #expect(boxes.map(\.type) == ["moof", "mdat"])
        let track = try #require(boxes[0]["traf"])
        let (run, time) = (try #require(track["trun"]), try #require(track["tfdt"]?.number(4..<12)))
        #expect(run.number(8..<12) == UInt64(boxes[0].payload.count) + 16)
        var (place, data) = (time, boxes[1].payload[...])
        for entry in 0..<Int(run.number(4..<8)) {
            let fields = 12 + 12 * entry
            times.append(place)
            place += run.number(fields..<fields + 4)
            let size = Int(run.number(fields + 4..<fields + 8))
            samples.append(Array(data.prefix(size)))
            data = data.dropFirst(size)
        }
        #expect(data.isEmpty)
        end = place
    }
}

@Suite("Segments of a recording")
struct SegmentTests {
    @Test("begin at keyframes, and where none is near, after six seconds")
    func cuts() throws {
        // Keyframes every 2 s for 16 s, then a picture that stays for 20 s.
        let often = SourceSettings(name: "often", keyframes: Set((0..<8).map { $0 * 4 }), pictures: 32)
        let times = (0..<32).map { Int64($0) * 500_000 }
        let index = try Cut(often, times: times, end: 35_500_000).index()
        let segments = MovieSegments(of: index, isComplete: true)
        let expected: [UInt64] = [0, 6_000, 12_000, 18_000, 24_000, 30_000, 35_500]
        #expect(segments.bounds == expected.map { $0 * 1000 })
        #expect(segments.count == 6 && segments.range(of: 6) == nil)
        #expect(segments.range(of: -1) == nil)
        #expect(segments.range(of: 0) == 0..<6_000_000 && segments.sizes.count == 6)
    }

    @Test("have every picture of the file once, byte for byte, besides the repeats at their beginnings")
    func pictures() throws {
        let rare = SourceSettings(name: "rare", keyframes: [0, 25], pictures: 60)
        let times = (0..<60).map { Int64($0) * 700_001 }
        let cut = try Cut(rare, times: times, end: 60_000_000)
        let index = try cut.index()
        let (segments, video) = (MovieSegments(of: index, isComplete: true), try #require(index.video))
        var (samples, shown) = ([[UInt8]](), [UInt64]())
        for number in 0..<segments.count {
            let range = try #require(segments.range(of: number))
            let segment = try #require(MovieSegment(video: video, range, number: UInt32(number), offset: 5))
            let played = try Played(cut.bytes(of: segment))
            #expect(played.times.first == range.lowerBound + 5 && played.end == range.upperBound + 5)
            // A repeat stands for 1 µs.
            let repeats = zip(played.times, played.times.dropFirst()).prefix { $1 - $0 == 1 }.count
            let isBeginning = times.contains(Int64(range.lowerBound))
            #expect(isBeginning == (repeats == 0) || number == 0)
            #expect(played.samples[0].first == 0 && played.samples[0][4] & 0x1F == 7)
            samples += isBeginning ? [played.keyframe] + played.samples.dropFirst() : []
            samples += isBeginning ? [] : played.samples.dropFirst(repeats + 1)
            shown += played.times.dropFirst(isBeginning ? 0 : repeats + 1).map { $0 - 5 }
        }
        let whole = video.samples.places(of: 0..<60).flatMap { cut.file[Int($0.offset)..<Int($0.offset + $0.length)] }
        #expect(samples.flatMap { $0 } == whole)
        #expect(shown == times.map(UInt64.init))
    }

    @Test("of a recording that grows stay the same", arguments: [[0, 25], [0, 3, 9, 40]] as [Set<Int>])
    func growing(_ keyframes: Set<Int>) throws {
        let cut = try Cut(
            SourceSettings(name: "growing", keyframes: keyframes, pictures: 60),
            times: (0..<60).map { Int64($0) * 900_000 },
            packets: (0..<2700).map { Int64($0) * 20_000 },
            in: SoundCodec.allCases,
            end: 60_000_000
        )
        let whole = try cut.index()
        let all = MovieSegments(of: whole, isComplete: true)
        var most = 0
        for file in cut.growing {
            let index = try Cut.scan(file)
            let some = MovieSegments(of: index, isComplete: false)
            #expect(all.bounds.starts(with: some.bounds))
            most = max(most, some.count)
            for number in 0..<some.count {
                let range = try #require(some.range(of: number))
                let (then, later) = try (#require(index.video), #require(whole.video))
                #expect(
                    MovieSegment(video: then, range, number: UInt32(number), offset: 0)
                        == MovieSegment(video: later, range, number: UInt32(number), offset: 0)
                )
                for codec in SoundCodec.allCases {
                    #expect(
                        MovieSegment(sound: index.sound(in: codec), in: codec, range, number: 0, offset: 0)
                            == MovieSegment(sound: whole.sound(in: codec), in: codec, range, number: 0, offset: 0)
                    )
                }
            }
        }
        #expect(most >= all.count - 3)
    }

    @Test("of sound are filled with silence, also without sound in the recording", arguments: SoundCodec.allCases)
    func sound(_ codec: SoundCodec) throws {
        let length = Double(codec.silenceDuration) / 48e3 * 1e6
        let early: [Int64] = (0..<200).map { 1_000_000 + Int64(Double($0) * length) }
        let late: [Int64] = (0..<50).map { 9_005_000 + Int64(Double($0) * length) }
        let packets = early + late
        let cut = try Cut(
            SourceSettings(name: "sound", keyframes: [0, 20], pictures: 40),
            times: (0..<40).map { Int64($0) * 300_000 },
            packets: packets,
            in: SoundCodec.allCases,
            end: 20_000_000
        )
        let index = try cut.index()
        let (segments, sound) = (MovieSegments(of: index, isComplete: true), try #require(index.sound(in: codec)))
        var (end, played) = (UInt64(0), [[UInt8]]())
        for number in 0..<segments.count {
            let range = try #require(segments.range(of: number))
            let segment = try #require(MovieSegment(sound: sound, in: codec, range, number: UInt32(number), offset: 0))
            let part = try Played(cut.bytes(of: segment))
            // Packets follow each other, from segment to segment, within half a packet.
            #expect(abs(Int64(part.times[0]) - Int64(end)) <= Int64(codec.silenceDuration) / 2, "\(number)")
            end = part.end
            played += part.samples
            let silent = try #require(MovieSegment(sound: nil, in: codec, range, number: UInt32(number), offset: 0))
            let silence = try Played(cut.bytes(of: silent))
            #expect(silence.samples.allSatisfy { $0 == codec.silence })
            #expect(silence.times[0] == range.lowerBound * 48 / 1000 && silence.end == range.upperBound * 48 / 1000)
        }
        #expect(abs(Int64(end) - 20_000_000 * 48 / 1000) < Int64(codec.silenceDuration))
        let real = played.filter { $0 != codec.silence }
        let numbers = packets.indices.map { UInt8(truncatingIfNeeded: $0) }.filter {
            codec == .aac || $0 != OpusPacket.silence.last
        }
        #expect(real == numbers.map { [0xFC, 0xFF, $0] })
    }

    @Test("play in ffmpeg without a message, picture for picture", arguments: RecordingTests.codecs)
    func plays(_ settings: SourceSettings) throws {
        var settings = settings
        (settings.keyframes, settings.pictures) = ([0, 20], 40)
        let cut = try Cut(settings, times: (0..<40).map { Int64($0) * 500_000 }, end: 25_000_000)
        let (index, scratch) = (try cut.index(), try Scratch())
        let (segments, video) = (MovieSegments(of: index, isComplete: true), try #require(index.video))
        _ = try scratch.write(MovieSegment.initialization(of: video.description), to: "init.mp4")
        var listed: [MediaPlaylist.Segment] = []
        for number in 0..<segments.count {
            let range = try #require(segments.range(of: number))
            let segment = try #require(MovieSegment(video: video, range, number: UInt32(number), offset: 0))
            _ = try scratch.write(cut.bytes(of: segment), to: "\(number).m4s")
            listed.append(.init(address: "\(number).m4s", duration: range.upperBound - range.lowerBound))
        }
        let section = MediaPlaylist.Section(map: "init.mp4", date: "2026-01-31T12:00:00.000Z", segments: listed)
        let playlist = MediaPlaylist([section], isComplete: true)
        #expect(CheckedPlaylist(playlist.text).faults.isEmpty)
        let file = try scratch.write(Array(playlist.text.utf8), to: "index.m3u8")
        let times = try Players.packets(of: file).map(\.pts)
        #expect(Set(times).isSuperset(of: (0..<40).map { Int64($0) * 500_000 }))
        let pictures = try Players.hashes(of: file)
        #expect(pictures.count == times.count)
        let whole = try Players.hashes(of: try scratch.write(cut.file, to: "whole.mp4"))
        // The last picture before each time is what the recording shows then.
        let ends: [Int64] = (1...40).map { 500_000 * Int64($0) }
        let shown = ends.compactMap { end in times.lastIndex { $0 < end } }.map { pictures[$0] }
        #expect(shown == whole)
    }

    @Test("do not end after the recording because its sound pauses before its last packet")
    func pause() throws {
        let cut = try Cut(
            SourceSettings(name: "pause", keyframes: [0], pictures: 10),
            times: (0..<10).map { Int64($0) * 1_000_000 },
            packets: [0, 20_000, 40_000, 9_000_000],
            end: 10_000_000
        )
        let scratch = try Scratch()
        let file = try scratch.write(cut.file, to: "pause.mp4")
        let entries = ["-show_entries", "format=duration", "-of", "csv=p=0"]
        #expect(try Tool.run("/usr/bin/ffprobe", ["-v", "warning"] + entries + [file.path]) == "10.000000\n")
    }

    @Test("say when gaps, other files and the end come")
    func playlists() {
        let (one, gap) = (
            MediaPlaylist.Segment(address: "0.m4s", duration: 6_000_000),
            MediaPlaylist.Segment(address: "1.m4s", duration: 1_000, isGap: true)
        )
        let other = MediaPlaylist.Segment(address: "2.m4s", duration: 5_999_999)
        let sections = [
            MediaPlaylist.Section(map: "a.mp4", date: "2026-01-31T12:00:00.000Z", segments: [one, gap]),
            MediaPlaylist.Section(map: "b.mp4", date: "2026-01-31T13:00:00.000Z", segments: [other]),
        ]
        let (grows, ended) = (
            CheckedPlaylist(MediaPlaylist(sections, isComplete: false).text),
            CheckedPlaylist(MediaPlaylist(sections, isComplete: true).text)
        )
        #expect(grows.faults.isEmpty && ended.faults.isEmpty && grows.faults(followedBy: ended).isEmpty)
        #expect(grows.type == "EVENT" && !grows.isEnded && ended.type == "VOD" && ended.isEnded && ended.target == 6)
        #expect(ended.segments.map(\.duration) == [6, 0.001, 5.999999])
        #expect(ended.segments.map(\.isGap) == [false, true, false])
        #expect(ended.segments.map(\.isDiscontinuous) == [false, false, true])
        #expect(ended.segments.map(\.map) == ["a.mp4", "a.mp4", "b.mp4"])
    }

    @Test("are named with their rates and formats")
    func variants() throws {
        let playlist = MultivariantPlaylist(
            rates: (2_000_000, 1_000_000),
            codecs: ["avc1.42C01F"],
            size: (1280, 720),
            fps: 29.97,
            sounds: [(.opus, "opus"), (.aac, "mp4a.40.2")]
        )
        let checked = CheckedPlaylist(playlist.text { "\($0.rawValue).m3u8" })
        #expect(checked.faults.isEmpty)
        #expect(checked.variants.map { $0["CODECS"] } == ["avc1.42C01F,opus", "avc1.42C01F,mp4a.40.2"])
        #expect(checked.variants.map { $0["AUDIO"] } == ["opus", "aac"])
        for variant in checked.variants {
            #expect(variant["FRAME-RATE"] == "29.970" && variant["URI"] == "video.m3u8")
            #expect(variant["RESOLUTION"] == "1280x720")
        }
        #expect(checked.renditions.map { $0["URI"] } == ["opus.m3u8", "aac.m3u8"])
    }
}
