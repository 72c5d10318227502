import CaptureAgent
import Foundation
import Media
import TestSupport
import Testing
import Wire

@Suite("A snapshot's file")
struct SnapshotFileTests {
    private static let size = PictureSize(width: 320, height: 180)

    private static func picture(
        of frame: CapturedFrame,
        _ format: SnapshotFormat,
        size: RequestedSize = RequestedSize()
    ) throws -> Snapshot.Picture {
        let subject = SnapshotSubject(frame: frame, size: size)
        guard case .picture(let picture) = try subject.drawn().get().file(format: format, quality: 85) else {
            throw NeverCame(description: "a picture")
        }
        return picture
    }

    @Test("of a preview is small, upright, and in proportion", arguments: [UInt8(0), 1, 2, 3])
    func preview(turns: UInt8) throws {
        let large = PictureSize(width: 1280, height: 720)
        var frame = CapturedFrame(ReferencePicture.gradients(large).frame, captured: 7)
        frame.orientation = turns
        let subject = SnapshotSubject(frame: frame, size: RequestedSize())
        guard case .picture(let preview) = try subject.drawn(within: 320).get().file(format: .jpeg, quality: 90) else {
            throw NeverCame(description: "a picture")
        }
        #expect(preview.size == PictureSize(width: turns % 2 == 0 ? 320 : 180, height: turns % 2 == 0 ? 180 : 320))
        #expect(preview.orientation == 0 && preview.geometry == 0)
        // The whole picture's corner that is at the top left when it is upright.
        let pixels = try Self.decoded(Self.picture(of: frame, .png))
        let (x, y) = [(8, 8), (8, 711), (1271, 711), (1271, 8)][Int(turns)]
        let corner = Array(pixels[(y * 1280 + x) * 3..<(y * 1280 + x) * 3 + 3])
        let decoded = try Self.decoded(preview)
        let shown = Array(decoded[(2 * preview.size.width + 2) * 3..<(2 * preview.size.width + 2) * 3 + 3])
        #expect(zip(corner, shown).allSatisfy { abs(Int($0) - Int($1)) < 24 }, "\(corner) \(shown)")
    }

    /// Returns the red, green and blue of each pixel, from a decoder other than the agent's library.
    private static func decoded(_ picture: Snapshot.Picture) throws -> [UInt8] {
        let scratch = try Scratch()
        let file = try scratch.write(picture.bytes, to: picture.format == .jpeg ? "snapshot.jpg" : "snapshot.png")
        let result = scratch.file("snapshot.rgb")
        defer { withExtendedLifetime(scratch) {} }
        let outcome = try Programs.run(
            URL(fileURLWithPath: "/usr/bin/ffmpeg"),
            [
                "-v", "error", "-i", file.path, "-vf", "scale=flags=accurate_rnd+full_chroma_int+bicubic", "-pix_fmt",
                "rgb24", "-f", "rawvideo", result.path,
            ]
        )
        try #require(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let bytes = [UInt8](try Data(contentsOf: result))
        try #require(bytes.count == picture.size.width * picture.size.height * 3)
        return bytes
    }

    private static func colours(_ reference: ReferencePicture) -> [UInt8] {
        reference.pixels.flatMap { pixel in (0..<3).map { UInt8((pixel[$0] * 255).rounded()) } }
    }

    /// Returns the picture with red and blue exchanged.
    private static func redFirst(_ reference: ReferencePicture) -> CapturedFrame {
        let size = reference.size
        let description = FrameDescription(size: size, stride: size.width * 4, format: .rgbx)
        let pixels = FramePixels(description: description) { memory in
            for (index, pixel) in reference.pixels.enumerated() {
                for channel in 0..<3 { memory[index * 4 + channel] = UInt8((pixel[channel] * 255).rounded()) }
                memory[index * 4 + 3] = 0
            }
        }
        return CapturedFrame(pixels, captured: 7)
    }

    @Test("PNG has the screen's own pixels, whatever their order in memory")
    func losslessPNG() throws {
        for reference in [ReferencePicture.gradients(Self.size), .text(Self.size)] {
            for frame in [CapturedFrame(reference.frame, captured: 7), Self.redFirst(reference)] {
                let picture = try Self.picture(of: frame, .png)
                #expect(picture.size == Self.size && picture.captured == 7)
                #expect(try Self.decoded(picture) == Self.colours(reference))
            }
        }
    }

    @Test("JPEG has the screen's colours: not video's range, nor its matrix")
    func coloursOfJPEG() throws {
        for reference in [ReferencePicture.gradients(Self.size), .photograph(Self.size)] {
            for frame in [CapturedFrame(reference.frame, captured: 7), Self.redFirst(reference)] {
                let decoded = try Self.decoded(Self.picture(of: frame, .jpeg))
                let expected = Self.colours(reference)
                // The error that halved chroma leaves at hard edges.
                #expect(Pictures.psnr(decoded, expected) > 30)
                for channel in 0..<3 {
                    let places = stride(from: channel, to: expected.count, by: 3)
                    let error = places.reduce(0) { $0 + Int(decoded[$1]) - Int(expected[$1]) }
                    #expect(abs(Double(error)) / Double(expected.count / 3) < 0.5, "no channel is brighter or darker")
                }
            }
        }
    }

    @Test(
        "another size is the screen's, scaled as video is, with black borders",
        arguments: [
            (PictureSize(width: 640, height: 360), RequestedSize(width: 320, height: 240)),
            (PictureSize(width: 640, height: 360), RequestedSize(width: 240, height: 360)),
            (PictureSize(width: 320, height: 180), RequestedSize(width: 480)),
            (PictureSize(width: 641, height: 361), RequestedSize(maxPixels: 60_000)),
        ]
    )
    func scaled(source: PictureSize, requested: RequestedSize) throws {
        let reference = ReferencePicture.photograph(source)
        let picture = try Self.picture(of: CapturedFrame(reference.frame, captured: 7), .png, size: requested)
        let fit = PictureFit(source: source, output: requested.resolved(source: source))
        #expect(picture.size == fit.output)
        let decoded = try Self.decoded(picture)
        for channel in 0..<3 {
            let even = source.even
            let plane = ReferencePlane(
                size: even,
                samples: (0..<even.height).flatMap { y in
                    (0..<even.width).map { x in reference.pixels[y * source.width + x][channel] * 255 }
                }
            )
            let content = (0..<fit.content.height).flatMap { y in
                (0..<fit.content.width).map { x in
                    decoded[((fit.y + y) * fit.output.width + fit.x + x) * 3 + channel]
                }
            }
            #expect(plane.scaled(to: fit.content).psnr(of: content) > 40)
        }
        let border = (0..<fit.output.height).flatMap { y in
            (0..<fit.output.width).filter { x in
                !(fit.y..<(fit.y + fit.content.height) ~= y && fit.x..<(fit.x + fit.content.width) ~= x)
            }.map { (y * fit.output.width + $0) * 3 }
        }
        #expect(border.allSatisfy { decoded[$0..<($0 + 3)].allSatisfy { $0 == 0 } })
        #expect(border.isEmpty == !fit.hasBorders)
    }

    @Test("a machine without libswscale scales by libyuv")
    func withoutSwscale() {
        let reference = ReferencePicture.photograph(PictureSize(width: 640, height: 360))
        let output = PictureSize(width: 320, height: 240)
        func bytes(_ scaler: PackedScaler) -> [UInt8] {
            let picture = PackedPicture(reference.frame, pointer: nil).fitted(
                PictureFit(source: reference.size, output: output),
                by: scaler
            )
            return (0..<output.height).flatMap { y in
                (0..<(output.width * 4)).filter { $0 % 4 != 3 }.map {
                    picture.first[y * picture.description.stride + $0]
                }
            }
        }
        #expect(Pictures.psnr(bytes(.best), bytes(.box)) > 30)
    }

    @Test("JPEG tells players how to turn it", arguments: 0..<4 as Range<UInt8>)
    func orientation(_ turns: UInt8) throws {
        let frame = CapturedFrame(ReferencePicture.gradients(Self.size).frame, captured: 7, orientation: turns)
        let scratch = try Scratch()
        let file = try scratch.write(Self.picture(of: frame, .jpeg).bytes, to: "turned.jpg")
        let turned = try Tool.run(
            "/usr/bin/ffprobe",
            ["-v", "error", "-show_entries", "frame_side_data=rotation", "-of", "csv=p=0", file.path]
        )
        withExtendedLifetime(scratch) {}
        // ffprobe counts degrees anticlockwise, from -180, and reports nothing for 0.
        let degrees = Int(turned.filter { "-0123456789".contains($0) }) ?? 0
        #expect((-degrees / 90 + 4) % 4 == Int(turns), "\(turned)")
    }

    @Test("an odd last column and row are left out, and the pointer is drawn")
    func oddWithPointer() throws {
        let size = PictureSize(width: 33, height: 25)
        let grey = ReferencePicture(size: size) { _, _ in SIMD3(repeating: 0.4) }
        let image = PointerImage(size: PictureSize(width: 3, height: 3), rgba: Array(repeating: 255, count: 36))
        let frame = CapturedFrame(
            grey.frame,
            captured: 7,
            pointer: Pointer(image: image, x: 5, y: 22),
            orientation: 3
        )
        let picture = try Self.picture(of: frame, .png)
        #expect(picture.size == PictureSize(width: 32, height: 24))
        #expect(picture.orientation == 3)
        let decoded = try Self.decoded(picture)
        for y in 0..<24 {
            for x in 0..<32 {
                let isPointer = 5..<8 ~= x && 22..<25 ~= y
                #expect(decoded[(y * 32 + x) * 3] == (isPointer ? 255 : 102), "\(x) \(y)")
            }
        }
    }

    @Test("that no packet has room for is refused, one in a format that takes less is made")
    func tooLarge() throws {
        let side = 2600
        let description = FrameDescription(
            size: PictureSize(width: side, height: side),
            stride: side * PixelFormat.bytesPerPixel,
            format: .bgrx
        )
        var generator = SeededGenerator(seed: 1)
        let noise = FramePixels(description: description) { memory in
            for word in memory.bindMemory(to: UInt64.self).indices {
                memory.storeBytes(of: generator.next(), toByteOffset: word * 8, as: UInt64.self)
            }
        }
        let subject = SnapshotSubject(frame: CapturedFrame(noise, captured: 1), size: RequestedSize())
        #expect(try subject.drawn().get().file(format: .png, quality: 85) == .refusal(.tooLarge))
        guard case .picture = try subject.drawn().get().file(format: .jpeg, quality: 50) else {
            throw NeverCame(description: "a picture")
        }
    }
}
