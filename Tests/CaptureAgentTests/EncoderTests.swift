import CaptureAgent
import Media
import TestSupport
import Testing

/// An encoder that runs on any machine.
enum SoftwareEncoder: String, CaseIterable, CustomTestStringConvertible {
    case x264, x265
    /// The same libraries through libavcodec.
    case libx264, libx265

    var codec: Codec {
        switch self {
        case .x264, .libx264: .h264
        case .x265, .libx265: .h265
        }
    }

    var testDescription: String { rawValue }

    func open(
        chroma: ChromaSampling = .quarter,
        size: PictureSize,
        fps: Int = 30,
        bitrate: Int = 2_000_000
    ) throws -> any VideoEncoder {
        let settings = EncoderSettings(codec: codec, chroma: chroma, size: size, fps: fps, bitrate: bitrate)
        return switch self {
        case .x264: try X264Encoder(settings)
        case .x265: try X265Encoder(settings)
        case .libx264, .libx265: try LibavEncoder(name: rawValue, settings: settings)
        }
    }
}

@Suite("An encoder")
struct EncoderTests {
    private static let size = PictureSize(width: 640, height: 360)

    /// Fills `picture` with the test card that shows `number`.
    private static func draw(_ number: UInt32, in picture: PlanarPicture) {
        let pixels = TestPatternSource.pixels(number: number, size: picture.size)
        PictureScaler(source: picture.size, output: picture.size).convert(pixels, into: picture)
    }

    /// Fills the luma with noise, which no encoder can compress well.
    private static func fillWithNoise(_ picture: PlanarPicture, _ generator: inout SeededGenerator) {
        picture.clear()
        for place in 0..<(picture.lumaStride * picture.size.height) {
            picture.y[place] = UInt8.random(in: 16...235, using: &generator)
        }
    }

    @Test(
        "puts out one picture for each picture in, without reordering, and says what its colours are",
        arguments: SoftwareEncoder.allCases
    )
    func stream(kind: SoftwareEncoder) throws {
        let encoder = try kind.open(size: Self.size)
        let picture = PlanarPicture(size: Self.size)
        var stream: [UInt8] = []
        for number in UInt32(0)..<30 {
            Self.draw(number, in: picture)
            let encoded = try encoder.encode(picture, forceKeyframe: number == 20)
            #expect(encoded.isKeyframe == (number == 0 || number == 20))
            stream += encoded.bytes
            // Everything that went in must be decodable by now.
            if number % 10 == 0 {
                #expect(try FFmpeg.decodeLuma(stream, codec: kind.codec, size: Self.size).count == Int(number) + 1)
            }
        }
        let pictures = try FFmpeg.decodeLuma(stream, codec: kind.codec, size: Self.size)
        #expect(pictures.enumerated().allSatisfy { Pictures.counter(luma: $1, size: Self.size) == $0 })
        #expect(pictures.count == 30)
        let properties = try FFmpeg.streamProperties(stream, codec: kind.codec)
        #expect(properties["has_b_frames"] == "0")
        #expect(properties["refs"] == "1")
        #expect(properties["color_range"] == "tv")
        #expect(properties["color_space"] == "bt709")
        #expect(properties["chroma_location"] == "center")
        #expect(properties["color_transfer"] == "bt709")
        #expect(properties["color_primaries"] == "bt709")
        #expect(properties["r_frame_rate"] == "30/1")
    }

    @Test(
        "begins every keyframe with its parameter sets and sends nothing but them and pictures",
        arguments: SoftwareEncoder.allCases
    )
    func units(kind: SoftwareEncoder) throws {
        let encoder = try kind.open(size: Self.size)
        let picture = PlanarPicture(size: Self.size)
        for number in UInt32(0)..<6 {
            Self.draw(number, in: picture)
            let isKeyframe = number % 3 == 0
            let encoded = try encoder.encode(picture, forceKeyframe: isKeyframe)
            let types = AnnexB.units(in: encoded.bytes).map {
                Self.unitType(encoded.bytes[$0.header], codec: kind.codec)
            }
            switch kind.codec {
            // x264 writes its version in a supplemental unit (6) of the first picture, which cannot be switched off.
            case .h264: #expect(types.filter { $0 != 6 || number > 0 } == (isKeyframe ? [7, 8, 5] : [1]))
            case .h265:
                #expect(types.dropLast() == (isKeyframe ? [32, 33, 34] : []))
                #expect(isKeyframe ? (19...20).contains(types.last ?? 0) : types == [1])
            }
        }
    }

    @Test("keeps the colour of each pixel with the full chroma", arguments: [SoftwareEncoder.x264, .x265])
    func fullChroma(kind: SoftwareEncoder) throws {
        // Red and blue columns of one pixel.
        let bytes = (0..<(Self.size.width * Self.size.height * 4)).map { UInt8([0, 6].contains($0 % 8) ? 255 : 0) }
        let colours = bytes.indices.filter { $0 % 4 < 3 }.map { bytes[$0] }
        let description = FrameDescription(size: Self.size, stride: Self.size.width * 4, format: .bgrx)
        let pixels = FramePixels(description: description) { $0.copyBytes(from: bytes) }
        var errors: [ChromaSampling: Double] = [:]
        for chroma in ChromaSampling.allCases {
            let encoder = try kind.open(chroma: chroma, size: Self.size, bitrate: 100_000_000)
            let picture = PlanarPicture(size: Self.size, chroma: chroma)
            PictureScaler(source: Self.size, output: Self.size, chroma: chroma).convert(pixels, into: picture)
            var stream: [UInt8] = []
            for _ in 0..<3 { stream += try encoder.encode(picture, forceKeyframe: false).bytes }
            let properties = try FFmpeg.streamProperties(stream, codec: kind.codec)
            #expect(properties["pix_fmt"] == (chroma == .full ? "yuv444p" : "yuv420p"))
            #expect(properties["color_space"] == "bt709" && properties["color_range"] == "tv")
            let shown = try FFmpeg.decodePixels(stream, codec: kind.codec)
            #expect(shown.count == 3 * colours.count)
            let difference = zip(shown.suffix(colours.count), colours).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            errors[chroma] = Double(difference) / Double(colours.count)
        }
        let (full, quarter) = (try #require(errors[.full]), try #require(errors[.quarter]))
        #expect(full < 4 && quarter > 60, "\(errors)")
    }

    /// `nal_unit_type`: ITU-T H.264 section 7.3.1, H.265 section 7.3.1.2.
    private static func unitType(_ header: UInt8, codec: Codec) -> UInt8 {
        switch codec {
        case .h264: header & 0x1F
        case .h265: header >> 1 & 0x3F
        }
    }

    @Test(
        "accepts sizes that are not multiples of its blocks, and crops what it had to add",
        arguments: SoftwareEncoder.allCases
    )
    func sizes(kind: SoftwareEncoder) throws {
        for (width, height) in [(854, 480), (642, 362), (18, 34), (16, 16), (1366, 768)] {
            let size = PictureSize(width: width, height: height)
            let encoder = try kind.open(size: size)
            let picture = PlanarPicture(size: size)
            Self.draw(0, in: picture)
            var stream: [UInt8] = []
            for _ in 0..<3 { stream += try encoder.encode(picture, forceKeyframe: false).bytes }
            let properties = try FFmpeg.streamProperties(stream, codec: kind.codec)
            #expect(properties["width"] == "\(width)" && properties["height"] == "\(height)")
            #expect(try FFmpeg.decodeLuma(stream, codec: kind.codec, size: size).count == 3)
        }
    }

    @Test(
        "refuses a size that it cannot encode instead of ending the process",
        arguments: [SoftwareEncoder.x265, .libx265]
    )
    func refusedSize(kind: SoftwareEncoder) {
        #expect(throws: EncoderError.self) { try kind.open(size: PictureSize(width: 8, height: 8)) }
    }

    @Test("says that it cannot change while it is open", arguments: [SoftwareEncoder.x265, .libx265])
    func notReconfigurable(kind: SoftwareEncoder) throws {
        #expect(try !kind.open(size: Self.size).reconfigure(bitrate: 1_000_000, burst: 500, fps: 30))
    }

    /// Encoders that can change while they are open.
    private static let reconfigurable: [SoftwareEncoder] = [.x264, .libx264]

    @Test("keeps to a lower bitrate from the next picture on, without a keyframe, if it can", arguments: reconfigurable)
    func bitrate(kind: SoftwareEncoder) throws {
        let encoder = try kind.open(size: Self.size, bitrate: 4_000_000)
        let before = try Self.byteCount(of: 60, by: encoder) * 8 / 2
        #expect(encoder.reconfigure(bitrate: 1_000_000, burst: 500, fps: 30))
        let after = try Self.byteCount(of: 60, by: encoder) * 8 / 2
        #expect((2_800_000...4_400_000).contains(before), "bit/s")
        #expect((700_000...1_100_000).contains(after), "bit/s")
    }

    @Test("keeps to its bitrate at another frame rate, if it can", arguments: reconfigurable)
    func rate(kind: SoftwareEncoder) throws {
        let encoder = try kind.open(size: Self.size, fps: 30, bitrate: 3_000_000)
        _ = try Self.byteCount(of: 60, by: encoder)
        #expect(encoder.reconfigure(bitrate: 3_000_000, burst: 500, fps: 60))
        let after = try Self.byteCount(of: 120, by: encoder) * 8 / 2
        #expect((2_100_000...3_300_000).contains(after), "bit/s")
    }

    @Test("keeps to its bitrate however much happens on the screen", arguments: SoftwareEncoder.allCases)
    func cap(kind: SoftwareEncoder) throws {
        let encoder = try kind.open(size: Self.size, bitrate: 2_000_000)
        let bitrate = try Self.byteCount(of: 60, by: encoder) * 8 / 2
        #expect((1_400_000...2_200_000).contains(bitrate), "bit/s")
    }

    /// Returns the bytes of the last `count` of many noisy pictures; the earlier ones fill the verifier's buffer.
    private static func byteCount(of count: Int, by encoder: any VideoEncoder) throws -> Int {
        var generator = SeededGenerator(seed: 1)
        let picture = PlanarPicture(size: encoder.settings.size)
        var byteCounts: [Int] = []
        for _ in 0..<(count + 30) {
            fillWithNoise(picture, &generator)
            let encoded = try encoder.encode(picture, forceKeyframe: false)
            #expect(!encoded.isKeyframe || byteCounts.isEmpty)
            byteCounts.append(encoded.bytes.count)
        }
        return byteCounts.suffix(count).reduce(0, +)
    }
}
