import Foundation
import Media
import Packaging
import TestSupport
import Testing

/// A tone of ffmpeg in AAC, alone and beside pictures of x264.
@Suite("Sound in AAC")
struct AACTests {
    private struct Clip {
        let scratch = try! Scratch()
        let sound: AACSource
        let pictures: [AccessUnit]

        init() throws {
            sound = try AACSource(seconds: 1, track: 2, scratch: scratch)
            let source = try SourceStream(SourceSettings(name: "x264", keyframes: [0, 20], pictures: 30))
            pictures = source.accessUnits.enumerated().map { index, bytes in
                let picture = Sample.accessUnit(pts: Int64(index) * 33_333, key: source.keyframes.contains(index), [])
                return AccessUnit(picture.header, bytes)
            }
        }

        var tracks: [MediaTrack] { [.video(.h264), sound.track] }

        /// All units, ordered by their times.
        var units: [AccessUnit] {
            (pictures + sound.units(from: 0)).sorted { ($0.pts, $0.header.track) < ($1.pts, $1.header.track) }
        }

        /// Returns the samples of one channel that ffmpeg decodes without a message.
        func decoded(_ bytes: [UInt8], _ name: String) throws -> [Float] {
            let file = try scratch.write(bytes, to: name)
            try FFmpeg.decodeSoundQuietly(of: file.path)
            return try FFmpeg.decodeSound(of: file.path)
        }

        /// Returns the times of the packets of sound as ffprobe reads them, in µs.
        func times(_ name: String) throws -> [Int] {
            try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "warning", "-select_streams", "a", "-show_entries", "packet=pts_time", "-of", "csv=p=0"]
                    + [scratch.file(name).path]
            ).split(separator: "\n").compactMap { line in
                Double(line.split(separator: ",")[0]).map { Int(($0 * 1e6).rounded()) }
            }
        }

        /// Returns what ffprobe says about the sound.
        func codec(_ name: String) throws -> String {
            try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "warning", "-select_streams", "a", "-of", "csv=p=0"]
                    + ["-show_entries", "stream=codec_name,profile,sample_rate,channels", scratch.file(name).path]
            ).split(separator: "\n").first.map(String.init) ?? ""
        }

        /// Whether samples are the tone of an eighth of full scale.
        func isTone(_ samples: [Float]) -> Bool {
            let middle = samples.dropFirst(4096).prefix(24_000)
            let level = (middle.reduce(0) { $0 + $1 * $1 } / 24_000).squareRoot()
            return middle.count == 24_000 && abs(level - 0.0884) < 0.002
        }
    }

    @Test("in fragments plays, with the times of its packets")
    func fragments() throws {
        let clip = try Clip()
        var (packager, bytes) = (FragmentedMP4(tracks: clip.tracks, fps: 30), [UInt8]())
        for unit in clip.units {
            let fragment = try packager.fragment(unit)
            if bytes.isEmpty { bytes = try #require(packager.initialization).bytes }
            bytes += fragment.bytes
        }
        #expect(packager.initialization?.codecs.hasSuffix(",mp4a.40.2") == true)
        let samples = try clip.decoded(bytes, "live.mp4")
        #expect(samples.count == clip.sound.packets.count * 1024 && clip.isTone(samples))
        #expect(try clip.codec("live.mp4") == "aac,LC,48000,2")
        let times = try clip.times("live.mp4")
        #expect(times == clip.sound.packets.indices.map { Int((Double($0) * 64_000 / 3).rounded()) })
    }

    @Test("the sample entry has the descriptors of AAC-LC at 48 kHz in stereo")
    func sampleEntry() throws {
        let clip = try Clip()
        var packager = FragmentedMP4(tracks: clip.tracks, fps: 30)
        _ = try packager.fragment(clip.pictures[0])
        let bytes = try #require(packager.initialization).bytes
        let expected: [UInt8] =
            [0, 0, 0, 0x4B] + Array("mp4a".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
            + [0, 2, 0, 16, 0, 0, 0, 0, 0xBB, 0x80, 0, 0]
            + [0, 0, 0, 0x27] + Array("esds".utf8) + [0, 0, 0, 0]
            + [3, 25, 0, 0, 0, 4, 17, 0x40, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2, 0x11, 0x90, 6, 1, 2]
        let place = (0...(bytes.count - expected.count)).first { bytes[$0...].starts(with: expected) }
        #expect(place != nil)
    }

    @Test("in a transport stream plays, with the times of its packets")
    func transportStream() throws {
        let clip = try Clip()
        var stream = TransportStream(tracks: clip.tracks)
        let samples = try clip.decoded(try clip.units.flatMap { try stream.packets($0) }, "both.ts")
        #expect(samples.count == clip.sound.packets.count * 1024 && clip.isTone(samples))
        #expect(try clip.codec("both.ts") == "aac,LC,48000,2")
        // The clock has 90 kHz, and begins at 200 ms.
        let times = try clip.times("both.ts")
        let expected = clip.sound.packets.indices.map { Double($0) * 64_000 / 3 + 200_000 }
        #expect(times.count == expected.count && zip(times, expected).allSatisfy { abs(Double($0) - $1) < 12 })
    }

    @Test("alone has a header before each packet, which readers find again", arguments: [1, 7, 1_000_000])
    func frames(_ step: Int) throws {
        let clip = try Clip()
        var stream = ADTSStream(.stereo)
        let bytes = try stream.frames(of: clip.sound.packets)
        #expect(stream.position == Int64(clip.sound.packets.count) * 1024)
        #expect(AACSource.packets(ofADTS: bytes) == clip.sound.packets)
        let samples = try clip.decoded(bytes, "alone.aac")
        #expect(samples.count == clip.sound.packets.count * 1024 && clip.isTone(samples))
        var (reader, frames) = (ADTSReader(), [ADTSFrame]())
        for start in stride(from: 0, to: bytes.count, by: step) {
            frames += try reader.append(bytes[start..<min(start + step, bytes.count)])
        }
        #expect(frames.map { Array($0.bytes.dropFirst(7)) } == clip.sound.packets)
    }

    @Test("a header is the one of the standard")
    func header() {
        // 0x5A9 bytes with the header.
        let header = ADTS.header(.stereo, size: 0x5A2)
        #expect(header == [0xFF, 0xF1, 0x4C, 0x80, 0xB5, 0x3F, 0xFC])
    }

    @Test(
        "what is not a stream of frames is refused",
        arguments: [[0, 0, 0, 0, 0, 0, 0], [0xFF, 0xF1, 0x4C, 0x80, 0, 0xFF, 0xFC]] as [[UInt8]]
    )
    func malformed(_ bytes: [UInt8]) {
        var reader = ADTSReader()
        #expect(throws: ADTSReader.Failure.malformed) { try reader.append(bytes) }
    }

    @Test("a packet that is empty or too long is refused, and the container continues")
    func refused() throws {
        let clip = try Clip()
        var (packager, stream) = (FragmentedMP4(tracks: clip.tracks, fps: 30), TransportStream(tracks: clip.tracks))
        var alone = ADTSStream(.stereo)
        let packet = clip.sound.units(from: 0)[0]
        _ = try packager.fragment(clip.pictures[0])
        for bytes in [[], [UInt8](repeating: 1, count: 8185)] {
            let malformed = AccessUnit(packet.header, bytes)
            #expect(throws: PackagingError.noPacket) { try packager.fragment(malformed) }
            #expect(throws: PackagingError.noPacket) { try stream.packets(malformed) }
            #expect(throws: PackagingError.noPacket) { try alone.frames(of: [bytes]) }
        }
        let longest = AccessUnit(packet.header, [UInt8](repeating: 1, count: 8184))
        for unit in [longest, packet] { _ = try (packager.fragment(unit), stream.packets(unit)) }
    }

    @Test("a packet of silence is silent alone, and after a tone")
    func silence() throws {
        let clip = try Clip()
        let silence = [[UInt8]](repeating: AACParameters.silence, count: 10)
        var stream = ADTSStream(.stereo)
        let alone = try clip.decoded(try stream.frames(of: silence), "silence.aac")
        #expect(alone.count == 10 * 1024 && alone.allSatisfy { $0 == 0 })
        let after = try clip.decoded(try stream.frames(of: clip.sound.packets + silence), "after.aac")
        // The first one still has the second half of the tone's last window.
        #expect(after.suffix(9 * 1024).allSatisfy { $0 == 0 })
    }

    @Test("in a stream of fragments is found again, and a recording keeps it")
    func recording() throws {
        let clip = try Clip()
        var (packager, stream) = (FragmentedMP4(tracks: clip.tracks, fps: 30), [UInt8]())
        let units = clip.units.filter { $0.pts > 0 || $0.header.track == MediaTrack.videoID }
        for unit in units {
            let fragment = try packager.fragment(unit)
            if stream.isEmpty { stream = try #require(packager.initialization).bytes }
            stream += fragment.bytes
        }
        var reader = FragmentReader()
        let found = try reader.append(stream)
        #expect(reader.sound == [clip.sound.track] && found.count == units.count)
        #expect(zip(found, units).allSatisfy { $0.header.track == $1.header.track && abs($0.pts - $1.pts) <= 11 })
        var movie = HybridMovie<[UInt8]>(tracks: [.video(.h264)] + reader.sound, fps: 30)
        for unit in found { try movie.append(unit) }
        let file = movie.takeBytes()
        let samples = try clip.decoded(file, "movie.mp4")
        #expect(clip.isTone(samples))
    }
}
