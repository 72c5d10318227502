import Foundation
import Media
import Packaging
import TestSupport
import Testing

/// Tests that other programs can read packaged streams of real encoders, with repeats.
@Suite("Players")
struct PlayerTests {
    struct Source: Sendable, CustomTestStringConvertible {
        var name: String
        var parts: [SourceSettings]
        var testDescription: String { name }
        var codec: Codec { parts[0].encoder.codec }

        /// Returns the access units of all parts in order, with repeats, at irregular times.
        func accessUnits() throws -> [AccessUnit] {
            var units: [AccessUnit] = []
            var pts: Int64 = 40
            func append(_ bytes: [UInt8], of part: SourceSettings, isKey: Bool) {
                var unit = Sample.accessUnit(pts: pts, key: isKey, [])
                unit.size = part.size
                unit.bytes = bytes
                units.append(unit)
                pts += units.count % 7 == 0 ? 66_667 : 33_333
            }
            for part in parts {
                let source = try SourceStream(part)
                var stream = RepeatableStream(codec: codec)
                for (index, bytes) in source.accessUnits.enumerated() {
                    let isKey = source.keyframes.contains(index)
                    append(try stream.live(bytes), of: part, isKey: isKey)
                    if index % 5 == 4, let skip = stream.skip() { append(skip, of: part, isKey: false) }
                }
            }
            return units
        }
    }

    static let sources = [
        Source(name: "H.264", parts: [SourceSettings(name: "x264")]),
        Source(
            name: "H.264 in three slices, delimiters",
            parts: [
                SourceSettings(
                    name: "x264",
                    input: "mandelbrot",
                    size: PictureSize(width: 640, height: 352),
                    preset: "superfast",
                    parameters: "slices=3:aud=1:qp=10"
                )
            ]
        ),
        Source(
            name: "H.265",
            parts: [
                SourceSettings(
                    name: "x265",
                    encoder: .x265,
                    parameters: "range=limited:colorprim=bt709:transfer=bt709:colormatrix=bt709"
                )
            ]
        ),
        Source(
            name: "H.264 in two sizes",
            parts: [
                SourceSettings(name: "small", pictures: 20),
                SourceSettings(name: "large", size: PictureSize(width: 640, height: 360), pictures: 20),
            ]
        ),
        Source(
            name: "H.265 in two sizes",
            parts: [
                SourceSettings(name: "large", encoder: .x265, size: PictureSize(width: 640, height: 360), pictures: 20),
                SourceSettings(name: "small", encoder: .x265, pictures: 20),
            ]
        ),
    ]

    /// Returns what players decode from the bare stream.
    private func expected(_ units: some Sequence<AccessUnit>, _ codec: Codec, _ scratch: Scratch) throws -> [String] {
        try Players.hashes(of: scratch.write(units.flatMap(\.bytes), to: "bare"), format: codec.demuxer)
    }

    @Test("of transport streams find what was put in", arguments: sources)
    func transportStream(_ source: Source) throws {
        let scratch = try Scratch()
        let units = try source.accessUnits()
        var stream = TransportStream(codec: source.codec)
        let chunks = try units.map { try stream.packets($0) }
        let file = try scratch.write(chunks.flatMap(\.self), to: "stream.ts")
        let pictures = try #require(ParsedPicture.pictures(chunks.flatMap(\.self)))
        let packets = zip(units, pictures).map { unit, picture in
            let pts = (Double(unit.pts) * 0.09).rounded() + 9000
            return Players.Packet(pts: Int64(pts), isKey: unit.flags.contains(.key), size: picture.bytes.count)
        }
        let found = try Players.packets(of: file)
        #expect(found.count == packets.count)
        for (one, other) in zip(found, packets) {
            #expect(one.pts == other.pts && one.isKey == other.isKey)
            // libavcodec's H.265 parser counts the first zero before a picture as part of the previous one.
            #expect(one.size == other.size || source.codec == .h265 && abs(one.size - other.size) == 1)
        }
        #expect(try Players.hashes(of: file) == expected(units, source.codec, scratch))
        let bare = scratch.file("bare")
        let samples = try Players.samples(of: bare, codec: source.codec, scratch: scratch)
        let played = try Players.samplesByGStreamer(of: file, codec: source.codec, isMP4: false, scratch: scratch)
        #expect(played == samples)

        // One player starts at a later keyframe, and one has missed what came before it.
        let join = try #require(units.indices.last { units[$0].flags.contains(.key) })
        let joined = try scratch.write(chunks[join...].flatMap(\.self), to: "joined.ts")
        #expect(try Players.hashes(of: joined) == expected(units[join...], source.codec, scratch))
        let mark = TransportStream.discontinuity(before: chunks[join])
        let given: [[UInt8]] = Array(chunks[..<4]) + [mark] + Array(chunks[join...])
        let resumed = try scratch.write(given.flatMap(\.self), to: "resumed.ts")
        let seen: [AccessUnit] = Array(units[..<4]) + Array(units[join...])
        #expect(try Players.hashes(of: resumed) == expected(seen, source.codec, scratch))
    }

    @Test("of fragmented MP4 find what was put in, across changes of size", arguments: sources)
    func fragmentedMP4(_ source: Source) throws {
        let scratch = try Scratch()
        let units = try source.accessUnits()
        var packager = FragmentedMP4(codec: source.codec, fps: 30)
        var beginnings: [[UInt8]] = []
        let fragments = try units.map { unit in
            let fragment = try packager.fragment(unit)
            beginnings.append(packager.initialization?.bytes ?? [])
            return fragment
        }
        #expect(fragments.count(where: \.changesInitialization) == source.parts.count)
        let file = try scratch.write(beginnings[0] + fragments.flatMap(\.bytes), to: "stream.mp4")
        let packets = try zip(units, fragments).map { unit, fragment in
            let size = try #require(Box.boxes(fragment.bytes)?[1]).payload.count
            return Players.Packet(pts: unit.pts, isKey: unit.flags.contains(.key), size: size)
        }
        #expect(try Players.packets(of: file) == packets)
        #expect(try Players.hashes(of: file) == expected(units, source.codec, scratch))
        let bare = scratch.file("bare")
        let samples = try Players.samples(of: bare, codec: source.codec, scratch: scratch)
        let played = try Players.samplesByGStreamer(of: file, codec: source.codec, isMP4: true, scratch: scratch)
        #expect(played == samples)

        let join = try #require(units.indices.last { units[$0].flags.contains(.key) })
        let joined = try scratch.write(beginnings[join] + fragments[join...].flatMap(\.bytes), to: "joined.mp4")
        #expect(try Players.hashes(of: joined) == expected(units[join...], source.codec, scratch))
        let properties = try Players.properties(of: joined)
        let size = try #require(source.parts.last).size
        #expect(properties["width"] == "\(size.width)" && properties["height"] == "\(size.height)")
        // ffmpeg makes x265 declare colours as unspecified.
        let saysColours = source.codec == .h264 || source.parts.count == 1
        #expect(properties["color_primaries"] == (saysColours ? "bt709" : "unknown"))
        #expect(properties["color_range"] == "tv")
        #expect(properties["sample_aspect_ratio"] == "1:1")
        #expect(properties["codec_tag_string"] == (source.codec == .h264 ? "avc3" : "hev1"))
    }

    @Test("of MP4 with parameter sets in the sample entry alone play each part", arguments: sources)
    func sampleEntries(_ source: Source) throws {
        let scratch = try Scratch()
        let units = try source.accessUnits()
        var packager = FragmentedMP4(codec: source.codec, fps: 30, place: .sampleEntry)
        var parts: [(bytes: [UInt8], units: [AccessUnit])] = []
        for unit in units {
            let fragment = try packager.fragment(unit)
            if fragment.changesInitialization { parts.append((packager.initialization?.bytes ?? [], [])) }
            parts[parts.count - 1].bytes += fragment.bytes
            parts[parts.count - 1].units.append(unit)
        }
        #expect(parts.count == source.parts.count)
        for part in parts {
            let file = try scratch.write(part.bytes, to: "part.mp4")
            #expect(try Players.hashes(of: file) == expected(part.units, source.codec, scratch))
            let samples = try Players.samples(of: scratch.file("bare"), codec: source.codec, scratch: scratch)
            let played = try Players.samplesByGStreamer(of: file, codec: source.codec, isMP4: true, scratch: scratch)
            #expect(played == samples)
        }
    }
}
