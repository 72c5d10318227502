import Foundation
import Media
import Packaging
import TestSupport
import Testing

/// Pictures of x264 and a tone of libopus in one container.
@Suite("Sound beside pictures")
struct SoundTests {
    private struct Clip {
        let scratch = try! Scratch()
        let sound: OpusSource
        let pictures: [AccessUnit]

        init() throws {
            sound = try OpusSource(seconds: 1, track: 1, scratch: scratch)
            let source = try SourceStream(SourceSettings(name: "x264", keyframes: [0, 20], pictures: 30))
            pictures = source.accessUnits.enumerated().map { index, bytes in
                Sample.accessUnit(pts: Int64(index) * 33_333, key: source.keyframes.contains(index), [])
                    .with(bytes: bytes)
            }
        }

        var tracks: [MediaTrack] { [.video(.h264), sound.track] }

        /// All units, ordered by their times.
        var units: [AccessUnit] {
            (pictures + sound.units(from: 0)).sorted { ($0.pts, $0.header.track) < ($1.pts, $1.header.track) }
        }

        /// Returns what ffprobe finds about one kind of stream: codec, channels, and each packet's time in ms.
        func probed(_ file: URL, _ kind: String) throws -> (codec: String, times: [Int]) {
            let arguments = ["-v", "warning", "-select_streams", kind, "-of", "csv=p=0"]
            let codec = try Tool.run(
                "/usr/bin/ffprobe",
                arguments + ["-show_entries", "stream=codec_name,channels", file.path]
            )
            let times = try Tool.run("/usr/bin/ffprobe", arguments + ["-show_entries", "packet=pts_time", file.path])
            return (
                codec.split(separator: "\n").first.map(String.init) ?? "",
                times.split(separator: "\n").compactMap {
                    Double($0.split(separator: ",")[0]).map { Int(($0 * 1000).rounded()) }
                }
            )
        }

        /// Returns the samples of one channel that ffmpeg decodes without a message, and checks that they are a tone
        /// and not noise.
        func decoded(_ file: URL) throws -> (samples: Int, loudest: Int) {
            let output = scratch.file("\(UUID().uuidString).raw")
            let said = try Tool.run(
                "/usr/bin/ffmpeg",
                ["-v", "warning", "-nostdin", "-xerror", "-i", file.path, "-map", "0:a", "-f", "s16le", output.path]
            )
            #expect(said.isEmpty)
            let samples = try Data(contentsOf: output).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
            return (samples.count / 2, samples.map { abs(Int($0)) }.max() ?? 0)
        }

        func expect(_ file: URL, delay: Int) throws {
            let (video, audio) = (try probed(file, "v"), try probed(file, "a"))
            #expect(video.codec == "h264" && audio.codec == "opus,2")
            #expect(video.times == pictures.map { Int((Double($0.pts) / 1000).rounded()) + delay })
            #expect(audio.times == sound.packets.indices.map { $0 * 20 + delay })
            let (samples, loudest) = try decoded(file)
            // A decoder discards the samples before the sound.
            #expect((960 * (sound.packets.count - 1)...960 * sound.packets.count).contains(samples), "\(samples)")
            #expect((2000...4000).contains(loudest), "\(loudest)")
        }
    }

    @Test("in fragments of one unit each plays, and the pictures' fragments stay as they are")
    func liveFragments() throws {
        let clip = try Clip()
        var (packager, alone) = (FragmentedMP4(tracks: clip.tracks, fps: 30), FragmentedMP4(codec: .h264, fps: 30))
        var bytes: [UInt8] = []
        for unit in clip.units {
            let fragment = try packager.fragment(unit)
            if bytes.isEmpty { bytes = try #require(packager.initialization).bytes }
            bytes += fragment.bytes
            guard unit.header.track == MediaTrack.videoID else { continue }
            // Everything except the fragment's number.
            let same = try alone.fragment(unit).bytes
            #expect(fragment.bytes.count == same.count && fragment.bytes[24...] == same[24...])
        }
        #expect(packager.initialization?.codecs.hasSuffix(",opus") == true)
        try clip.expect(clip.scratch.write(bytes, to: "live.mp4"), delay: 0)
    }

    @Test("in fragments of several units of both tracks plays", arguments: [2, 7, 1000])
    func longFragments(_ count: Int) throws {
        let clip = try Clip()
        var packager = FragmentedMP4(tracks: clip.tracks, fps: 30)
        var bytes: [UInt8] = []
        let units = clip.units
        for start in stride(from: 0, to: units.count, by: count) {
            var group = FragmentedMP4.Group<[UInt8]>()
            for unit in units[start..<min(start + count, units.count)] { try packager.add(unit, to: &group) }
            if start == 0 { bytes = try #require(packager.initialization).bytes }
            let fragment: [UInt8] = packager.muxed(group)
            bytes += fragment
        }
        try clip.expect(clip.scratch.write(bytes, to: "long.mp4"), delay: 0)
    }

    @Test("in a transport stream plays")
    func transportStream() throws {
        let clip = try Clip()
        var stream = TransportStream(tracks: clip.tracks)
        let bytes = try clip.units.flatMap { try stream.packets($0) }
        try clip.expect(clip.scratch.write(bytes, to: "both.ts"), delay: 100)
    }

    @Test("in a stream of fragments is found again, and a recording keeps it", arguments: [1, 997, 1_000_000])
    func recording(_ step: Int) throws {
        let clip = try Clip()
        var packager = FragmentedMP4(tracks: clip.tracks, fps: 30)
        var stream: [UInt8] = []
        for unit in clip.units where unit.pts > 0 || unit.header.track == MediaTrack.videoID {
            let fragment = try packager.fragment(unit)
            if stream.isEmpty { stream = try #require(packager.initialization).bytes }
            stream += fragment.bytes
        }
        var (reader, units) = (FragmentReader(), [AccessUnit]())
        for start in stride(from: 0, to: stream.count, by: step) {
            units += try reader.append(stream[start..<min(start + step, stream.count)])
        }
        #expect(reader.sound == [clip.sound.track] && reader.isWhole)
        let sent = clip.units.filter { $0.pts > 0 || $0.header.track == MediaTrack.videoID }
        #expect(units.map(\.header.track) == sent.map(\.header.track))
        func sound(_ units: [AccessUnit]) -> [[UInt8]] { units.filter { $0.header.track == 1 }.map(\.bytes) }
        #expect(sound(units) == sound(sent))
        #expect(zip(units, sent).allSatisfy { abs($0.pts - $1.pts) <= 1 })

        var movie = HybridMovie<[UInt8]>(tracks: [.video(.h264)], fps: 30)
        movie.tracks += reader.sound
        // Sound from before the first keyframe is left out.
        try movie.append(clip.sound.units(from: 0)[0])
        #expect(!movie.hasBegun)
        var file: [UInt8] = []
        for unit in units {
            if movie.isFragmentDue(at: unit.pts) { file += movie.takeBytes() }
            try movie.append(unit)
        }
        file += movie.takeBytes()
        for step in movie.ending(at: 1_000_000) {
            let rest = file.dropFirst(Int(step.offset) + step.bytes.count)
            file = file.prefix(Int(step.offset)) + step.bytes + rest
        }
        let movieFile = try clip.scratch.write(file, to: "movie.mp4")
        #expect(try clip.probed(movieFile, "v").times.count == clip.pictures.count)
        #expect(try clip.probed(movieFile, "a").times == clip.sound.packets.indices.dropFirst().map { $0 * 20 })
        _ = try clip.decoded(movieFile)
    }

    @Test("a unit of an unknown track, or that is not a packet, is refused, and the container continues")
    func refused() throws {
        let clip = try Clip()
        var (packager, stream) = (FragmentedMP4(tracks: clip.tracks, fps: 30), TransportStream(tracks: clip.tracks))
        let packet = clip.sound.units(from: 0)[0]
        #expect(throws: PackagingError.noKeyframe) { try packager.fragment(packet) }
        _ = try packager.fragment(clip.pictures[0])
        for bytes: [UInt8] in [[], [3], [3, 0], [0x9F, 63]] {
            let malformed = packet.with(bytes: bytes)
            #expect(throws: PackagingError.noPacket) { try packager.fragment(malformed) }
            #expect(throws: PackagingError.noPacket) { try stream.packets(malformed) }
        }
        var other = packet
        other.header.track = 2
        #expect(throws: PackagingError.unknownTrack) { try packager.fragment(other) }
        #expect(throws: PackagingError.unknownTrack) { try stream.packets(other) }
        _ = try (packager.fragment(packet), stream.packets(packet))
    }
}

extension AccessUnit {
    fileprivate func with(bytes: [UInt8]) -> AccessUnit { AccessUnit(header, bytes) }
}
