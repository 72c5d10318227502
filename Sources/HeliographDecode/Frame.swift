import Access
import CAVCodec
import CYUV
import Images

/// A decoded picture of the screen.
///
/// It may be kept for any time, and read by any number of threads.
public final class Frame: Sendable {
    /// How the colours of pixels are sampled.
    public enum Sampling: String, Sendable {
        /// Half as many in both directions: 4:2:0.
        case half = "420"
        /// As many as pixels: 4:4:4.
        case full = "444"
    }

    /// The memory of a frame of libavcodec.
    final class Memory: @unchecked Sendable {
        // Unchecked because nothing writes to the frame after its decoder has filled it.

        let frame: UnsafeMutablePointer<AVFrame>

        init?() {
            guard let frame = av_frame_alloc() else { return nil }
            self.frame = frame
        }

        deinit {
            var frame: UnsafeMutablePointer<AVFrame>? = frame
            av_frame_free(&frame)
        }
    }

    let memory: Memory
    /// In pixels, as encoded.
    public let width: Int
    public let height: Int
    public let sampling: Sampling
    /// The clockwise quarter turns that make it upright, 0 to 3.
    public let orientation: Int
    /// Whether 0 and 255 are black and white. Otherwise 16 and 235 are.
    let isFullRange: Bool

    init(_ memory: Memory, orientation: Int) throws(DecodeError) {
        let frame = memory.frame.pointee
        switch AVPixelFormat(frame.format) {
        case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P: sampling = .half
        case AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ444P: sampling = .full
        default: throw .unsupportedSamples
        }
        (width, height) = (Int(frame.width), Int(frame.height))
        self.memory = memory
        self.orientation = orientation
        let fullRangeFormats = [AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ444P]
        isFullRange = frame.color_range == AVCOL_RANGE_JPEG || fullRangeFormats.contains(AVPixelFormat(frame.format))
    }

    /// The bytes of a row of each plane, and the plane's rows.
    private var planeSizes: [(width: Int, height: Int)] {
        let chroma = sampling == .half ? ((width + 1) / 2, (height + 1) / 2) : (width, height)
        return [(width, height), chroma, chroma]
    }

    // MARK: As bytes

    /// The planes Y, U and V, one after the other without gaps: 8 bits a sample.
    public var raw: [UInt8] {
        let (frame, sizes) = (memory.frame.pointee, planeSizes)
        let planes = [
            (frame.data.0, frame.linesize.0), (frame.data.1, frame.linesize.1), (frame.data.2, frame.linesize.2),
        ]
        let count = sizes.reduce(0) { $0 + $1.width * $1.height }
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
            for ((first, stride), size) in zip(planes, sizes) {
                guard let first, var place = bytes.baseAddress.map({ $0 + filled }) else { return }
                for row in 0..<size.height {
                    place.update(from: first + row * Int(stride), count: size.width)
                    place += size.width
                }
                filled += size.width * size.height
            }
        }
    }

    /// The SHA-256 of ``raw``, in hexadecimal digits: equal pictures have equal ones.
    public var hash: String { Hexadecimal.text(of: SHA256.hash(raw)) }

    /// The size of the upright picture.
    public var uprightSize: (width: Int, height: Int) {
        orientation % 2 == 1 ? (height, width) : (width, height)
    }

    /// Returns the pixels of the upright picture, row by row: blue, green, red, and one of 255.
    ///
    /// - Parameters:
    ///   - width: The size to scale to, each at least 1. Default: ``uprightSize``.
    ///   - height: Likewise.
    public func pixels(width: Int? = nil, height: Int? = nil) -> [UInt8] {
        let (across, down) = (max(1, width ?? uprightSize.width), max(1, height ?? uprightSize.height))
        let isTurned = orientation % 2 == 1
        let (width, height) = isTurned ? (down, across) : (across, down)
        let encoded = Self.bytes(width: width, height: height) { first in
            let isDone = PixelConverter().convert(self, to: first, stride: width * 4, width: width, height: height)
            if !isDone { first.update(repeating: 0, count: width * height * 4) }
        }
        guard orientation != 0 else { return encoded }
        return Self.bytes(width: across, height: down) { first in
            let mode = [kRotate0, kRotate90, kRotate180, kRotate270][orientation & 3]
            ARGBRotate(encoded, Int32(width * 4), first, Int32(across * 4), Int32(width), Int32(height), mode)
        }
    }

    /// Returns the bytes of pixels that `fill` writes.
    private static func bytes(width: Int, height: Int, fill: (UnsafeMutablePointer<UInt8>) -> Void) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: width * height * 4) { bytes, count in
            guard let first = bytes.baseAddress else { return }
            fill(first)
            count = width * height * 4
        }
    }

    // MARK: As files

    /// Returns a PNG file of the upright picture; `nil` if libpng fails.
    public func png() -> [UInt8]? {
        let (width, height) = uprightSize
        return pixels().withUnsafeBufferPointer { buffer in
            buffer.baseAddress.flatMap {
                PNGFile.bytes(of: $0, stride: width * 4, width: width, height: height, blueFirst: true)
            }
        }
    }

    /// The head of a YUV4MPEG2 file of such pictures, to be followed by a ``y4mFrame`` for each.
    ///
    /// - Parameter fps: Pictures per second.
    public func y4mHead(fps: Int) -> [UInt8] {
        let colours = sampling == .half ? "420mpeg2" : "444"
        let range = isFullRange ? "FULL" : "LIMITED"
        return Array("YUV4MPEG2 W\(width) H\(height) F\(fps):1 Ip A1:1 C\(colours) XCOLORRANGE=\(range)\n".utf8)
    }

    /// The picture as a frame of a YUV4MPEG2 file.
    public var y4mFrame: [UInt8] { Array("FRAME\n".utf8) + raw }
}
