import CAVCodec

/// Converts frames to pixels for a screen, by libswscale.
///
/// It keeps what it has prepared for frames of one kind, so use one for the frames of a session.
public final class PixelConverter {
    /// libswscale converts 8 columns at once, and may write 8 more: over the end of the last row, if rows have no room.
    private static let columnsAtOnce = 16

    private var context: OpaquePointer?

    public init() {}

    deinit { sws_freeContext(context) }

    /// Returns the number of columns with which rows of a width are converted without a copy.
    public static func columns(for width: Int) -> Int { (width + columnsAtOnce - 1) / columnsAtOnce * columnsAtOnce }

    /// Converts a frame, as it is encoded, to four bytes a pixel: blue, green, red, and one of 255.
    ///
    /// - Parameters:
    ///   - frame: What a decoder has made.
    ///   - pixels: The first pixel's place, with room for all rows.
    ///   - stride: The bytes from one row to the next, at least four for each pixel. If it is less than four for each
    ///     of ``columns(for:)``, the pixels are copied once more.
    ///   - width: The size to scale to. Default: the frame's.
    ///   - height: Likewise.
    /// - Returns: Whether the pixels are there. They are not if libswscale has no memory.
    @discardableResult
    public func convert(
        _ frame: Frame,
        to pixels: UnsafeMutablePointer<UInt8>,
        stride: Int,
        width: Int? = nil,
        height: Int? = nil
    ) -> Bool {
        let (width, height) = (width ?? frame.width, height ?? frame.height)
        let roomy = Self.columns(for: width) * 4
        guard stride < roomy else { return scale(frame, to: pixels, stride, width, height) }
        return withUnsafeTemporaryAllocation(byteCount: roomy * height, alignment: 64) { buffer in
            guard let first = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self),
                scale(frame, to: first, roomy, width, height)
            else { return false }
            for row in 0..<height { (pixels + row * stride).update(from: first + row * roomy, count: width * 4) }
            return true
        }
    }

    private func scale(
        _ frame: Frame,
        to pixels: UnsafeMutablePointer<UInt8>,
        _ stride: Int,
        _ width: Int,
        _ height: Int
    ) -> Bool {
        let isScaled = (width, height) != (frame.width, frame.height)
        let from = frame.memory.frame
        context = sws_getCachedContext(
            context,
            Int32(frame.width),
            Int32(frame.height),
            // The names of both ranges are one to libswscale, which is told the range below.
            frame.sampling == .half ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_YUV444P,
            Int32(width),
            Int32(height),
            AV_PIX_FMT_BGRA,
            isScaled ? SWS_AREA : SWS_POINT,
            nil,
            nil,
            nil
        )
        guard let context else { return false }
        // Ones of fixed point with 16 bits after the point: colours stay as bright and as strong.
        let one: Int32 = 1 << 16
        let matrix = sws_getCoefficients(Self.matrix(of: from.pointee.colorspace))
        sws_setColorspaceDetails(context, matrix, frame.isFullRange ? 1 : 0, matrix, 1, 0, one, one)
        let data = from.pointee.data
        let planes: [UnsafePointer<UInt8>?] = [
            UnsafePointer(data.0), UnsafePointer(data.1), UnsafePointer(data.2), nil,
        ]
        let lines = from.pointee.linesize
        let strides: [Int32] = [lines.0, lines.1, lines.2, 0]
        let target: [UnsafeMutablePointer<UInt8>?] = [pixels, nil, nil, nil]
        return sws_scale(context, planes, strides, 0, Int32(frame.height), target, [Int32(stride), 0, 0, 0])
            == Int32(height)
    }

    /// Returns libswscale's number of a matrix (ITU-T H.273, table 4).
    private static func matrix(of space: AVColorSpace) -> Int32 {
        switch space {
        case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: SWS_CS_ITU601
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: SWS_CS_BT2020
        // Heliograph's own, and the usual one of streams that do not say.
        default: SWS_CS_ITU709
        }
    }
}
