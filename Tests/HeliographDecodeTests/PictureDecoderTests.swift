import HeliographClient
import HeliographDecode
import Media
import TestSupport
import Testing

@Suite("The library's decoder of pictures")
struct PictureDecoderTests {
    @Test(
        "each picture comes out when it goes in, and equals ffmpeg's",
        arguments: [(Codec.h264, "yuv420p"), (.h264, "yuv444p"), (.h265, "yuv420p"), (.h265, "yuv444p")]
    )
    func decodes(codec: Codec, pixels: String) throws {
        let movie = try EncodedMovie(codec, pixels: pixels)
        let decoder = HeliographDecode.PictureDecoder()
        for (unit, picture) in zip(movie.units, movie.pictures) {
            let frame = try #require(try decoder.decode(unit))
            #expect((frame.width, frame.height) == (322, 182))
            #expect(frame.sampling == (pixels == "yuv420p" ? .half : .full))
            let isEqual = frame.raw == picture
            #expect(isEqual, "at \(unit.pts)")
        }
    }

    @Test("a damaged picture never comes out, nor those that refer to it; the next keyframe begins anew")
    func damage() throws {
        var generator = SeededGenerator(seed: 7)
        for codec in [Codec.h264, .h265] {
            let movie = try EncodedMovie(codec)
            var damaged = 0
            for _ in 0..<20 {
                let decoder = HeliographDecode.PictureDecoder()
                let victim = Int.random(in: 1..<29, using: &generator)
                let next = (victim / 10 + 1) * 10
                for (number, unit) in movie.units.enumerated() {
                    let bytes = number == victim ? Self.damaged(unit.bytes, &generator) : unit.bytes
                    let sent = EncodedMovie.unit(bytes, movie.format, number: number, isKeyframe: unit.isKeyframe)
                    let isWhole = number < victim || number >= next
                    switch Self.outcome(of: sent, decoder) {
                    case .success(let frame) where isWhole:
                        let isEqual = frame?.raw == movie.pictures[number]
                        #expect(isEqual, "\(codec), picture \(number) with damage in \(victim)")
                    // Not all damage can be noticed.
                    case .success: break
                    case .failure(let error):
                        damaged += 1
                        #expect(error == .damaged && !isWhole, "\(codec) \(number): \(error)")
                    }
                }
            }
            // H.265's arithmetic coding decodes almost any bits.
            #expect(damaged > 0 || codec == .h265, "no damage was noticed")
        }
    }

    private static func damaged(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<8 {
            bytes[Int.random(in: 8..<bytes.count, using: &generator)] ^= UInt8.random(in: 1...255, using: &generator)
        }
        return bytes
    }

    private static func outcome(of unit: MediaUnit, _ decoder: HeliographDecode.PictureDecoder) -> Result<
        Frame?, DecodeError
    > {
        do throws(DecodeError) { return .success(try decoder.decode(unit)) } catch { return .failure(error) }
    }

    @Test("without a keyframe there is nothing to show")
    func needsKeyframe() throws {
        let movie = try EncodedMovie(.h264)
        let decoder = HeliographDecode.PictureDecoder()
        for unit in movie.units[1..<10] { #expect(try decoder.decode(unit) == nil) }
        #expect(try decoder.decode(movie.units[10]) != nil)
    }

    @Test("one decoder takes sessions of another codec and size, one after the other")
    func changes() throws {
        let decoder = HeliographDecode.PictureDecoder()
        for (codec, width) in [(Codec.h264, 320), (.h265, 640), (.h264, 160)] {
            let movie = try EncodedMovie(codec, width: width, height: 90)
            for unit in movie.units { #expect(try decoder.decode(unit)?.width == width) }
        }
    }
}
