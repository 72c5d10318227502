import Foundation
import Media
import Packaging
import TestSupport
import Testing

/// A tone of libopus in an Ogg stream.
@Suite("Sound in Ogg")
struct OggTests {
    private static let origin: Int64 = 5_000_000

    private struct Clip {
        let scratch = try! Scratch()
        let sound: OpusSource
        var muxer = OggOpus(channels: 2, serial: 7, origin: OggTests.origin)

        init() throws { sound = try OpusSource(seconds: 1, track: 1, scratch: scratch) }

        /// Returns the pages of all packets.
        mutating func pages(packetsEach count: Int) throws -> [OggPage] {
            try stride(from: 0, to: sound.packets.count, by: count).map { first in
                let packets = Array(sound.packets[first..<min(first + count, sound.packets.count)])
                return try muxer.page(of: packets, at: OggTests.origin + Int64(first) * 20_000)
            }
        }

        /// Returns the times between a file's packets as ffprobe reads them, in ms.
        func steps(_ bytes: [UInt8]) throws -> [Int] {
            let file = try scratch.write(bytes, to: "\(UUID().uuidString).ogg")
            let times = try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "warning", "-show_entries", "packet=pts_time", "-of", "csv=p=0", file.path]
            ).split(separator: "\n").map { Double($0.split(separator: ",")[0]) ?? .nan }
            return zip(times, times.dropFirst()).map { Int((($1 - $0) * 1000).rounded()) }
        }

        /// Returns how many samples of one channel a player decodes without a message.
        func samples(_ bytes: [UInt8]) throws -> Int {
            let file = try scratch.write(bytes, to: "\(UUID().uuidString).ogg")
            let output = scratch.file("\(UUID().uuidString).raw")
            let said = try Tool.run(
                "/usr/bin/ffmpeg",
                ["-v", "warning", "-nostdin", "-xerror", "-i", file.path, "-f", "s16le", output.path]
            )
            #expect(said.isEmpty, "\(said)")
            return try Data(contentsOf: output).count / 4
        }
    }

    @Test("plays from its beginning to its end", arguments: [1, 10])
    func plays(packetsEach count: Int) throws {
        var clip = try Clip()
        let pages = try clip.pages(packetsEach: count)
        let last = try #require(pages.last)
        let bytes = clip.muxer.header + pages.flatMap(\.bytes) + last.ending.bytes
        #expect(try clip.samples(bytes) == clip.sound.packets.count * 960 - Int(OggOpus.preSkip))
        #expect(last.position == Int64(clip.sound.packets.count) * 960)
        if count == 1 { #expect(try clip.steps(bytes).allSatisfy { $0 == 20 }) }
    }

    @Test("sound that is missing is a step of the time, and a time that is not exact is none")
    func gap() throws {
        var clip = try Clip()
        var pages: [OggPage] = []
        for (index, packet) in clip.sound.packets.enumerated() {
            // 100 ms are missing in the middle. Every other time is 2 µs late.
            let pts = Self.origin + Int64(index) * 20_000 + (index < 25 ? 0 : 100_000) + Int64(index % 2) * 2
            pages.append(try clip.muxer.page(of: [packet], at: pts))
        }
        let steps = zip(pages, pages.dropFirst()).map { $1.position - $0.position }
        #expect(steps.enumerated().allSatisfy { $1 == ($0 == 24 ? 960 + 4800 : 960) }, "\(steps)")
        #expect(try clip.samples(clip.muxer.header + pages.flatMap(\.bytes)) > 0)
    }

    @Test("its pages are found again, however they arrive", arguments: [1, 27, 1000, 1_000_000])
    func found(_ step: Int) throws {
        var clip = try Clip()
        let pages = try clip.pages(packetsEach: 3)
        let bytes = clip.muxer.header + pages.flatMap(\.bytes)
        var (reader, found) = (OggPageReader(), [OggPage]())
        for start in stride(from: 0, to: bytes.count, by: step) {
            found += try reader.append(bytes[start..<min(start + step, bytes.count)])
        }
        #expect(found.count == pages.count + 2 && found.suffix(pages.count).elementsEqual(pages))
        #expect(found.first?.flags == .beginning && found.map(\.sequence) == Array(0..<UInt32(found.count)))
        #expect(throws: OggPageReader.Failure.malformed) { try reader.append(Array(repeating: 1, count: 27)) }
    }

    @Test("a damaged packet, and more than a page takes, are refused, and the stream goes on")
    func refused() throws {
        var clip = try Clip()
        let before = try clip.muxer.page(of: [clip.sound.packets[0]], at: Self.origin)
        #expect(throws: PackagingError.noPacket) { try clip.muxer.page(of: [[UInt8]()], at: Self.origin) }
        let tooMany = [[UInt8]](repeating: [0xFC, 0xFF, 0xFE], count: OggPage.mostSegments + 1)
        #expect(throws: PackagingError.tooLarge) { try clip.muxer.page(of: tooMany, at: Self.origin) }
        let after = try clip.muxer.page(of: [clip.sound.packets[1]], at: Self.origin + 20_000)
        #expect(after.sequence == before.sequence + 1 && after.position == before.position + 960)
    }
}
