package import CColour
package import Media

/// A planar picture in memory: the luma plane, then the two chroma planes.
package final class PlanarPicture: @unchecked Sendable {
    // Unchecked because a picture never leaves the encoder thread of its session, in a pool or out of it.

    package let size: PictureSize
    package let chroma: ChromaSampling
    /// Bytes from one luma row to the next: a multiple of the vector size, so that encoders can use aligned reads.
    package let lumaStride: Int
    package var chromaStride: Int { lumaStride / scale }

    /// Pixels per chroma sample, in each direction.
    private let scale: Int

    /// Spare bytes after each plane, because libswscale's vector code reads and writes beyond the end of a row.
    private static let gap = 64

    private let memory: UnsafeMutableRawBufferPointer
    private var chromaByteCount: Int { chromaStride * size.height / scale }

    /// - Parameter size: Both sides must be even. The contents are uninitialised.
    package init(size: PictureSize, chroma: ChromaSampling = .quarter) {
        self.size = size
        self.chroma = chroma
        scale = chroma.pixelsPerSample
        lumaStride = (size.width + 63) & ~63
        let chromaByteCount = lumaStride * size.height / scale / scale
        let byteCount = lumaStride * size.height + 2 * chromaByteCount + 3 * Self.gap
        memory = .allocate(byteCount: byteCount, alignment: 64)
    }

    deinit {
        memory.deallocate()
    }

    package var y: UnsafeMutablePointer<UInt8> { memory.baseAddress!.assumingMemoryBound(to: UInt8.self) }
    package var u: UnsafeMutablePointer<UInt8> { y + lumaStride * size.height + Self.gap }
    package var v: UnsafeMutablePointer<UInt8> { u + chromaByteCount + Self.gap }

    /// Fills the whole picture with black: luma 16, chroma 128 in limited range.
    package func clear() {
        y.update(repeating: 16, count: lumaStride * size.height)
        u.update(repeating: 128, count: chromaByteCount)
        v.update(repeating: 128, count: chromaByteCount)
    }

    /// Fills the area around the fit's content with black.
    func clearBorders(of fit: PictureFit) {
        Self.clear(y, stride: lumaStride, around: fit, per: 1, with: 16)
        Self.clear(u, stride: chromaStride, around: fit, per: scale, with: 128)
        Self.clear(v, stride: chromaStride, around: fit, per: scale, with: 128)
    }

    /// - Parameter scale: Pixels of the picture per sample of the plane, in each direction.
    private static func clear(
        _ plane: UnsafeMutablePointer<UInt8>,
        stride: Int,
        around fit: PictureFit,
        per scale: Int,
        with black: UInt8
    ) {
        let (width, height) = (fit.output.width / scale, fit.output.height / scale)
        let (left, top) = (fit.x / scale, fit.y / scale)
        let (right, bottom) = (left + fit.content.width / scale, top + fit.content.height / scale)
        for row in 0..<height {
            let first = plane + row * stride
            if row < top || row >= bottom {
                first.update(repeating: black, count: width)
            } else {
                first.update(repeating: black, count: left)
                (first + right).update(repeating: black, count: width - right)
            }
        }
    }

    /// Returns the planes of the rectangle whose top left corner is at `x`, `y` (both even).
    package func planes(x: Int, y top: Int) -> ccolour_planes {
        let offset = top / scale * chromaStride + x / scale
        return ccolour_planes(
            y: y + top * lumaStride + x,
            u: u + offset,
            v: v + offset,
            y_stride: lumaStride,
            chroma_stride: chromaStride
        )
    }

    /// Converts pixels into the rectangle whose top left corner is at `x`, `y`. All numbers must be even.
    func convert(_ pixels: ccolour_picture, toX x: Int, y: Int) {
        switch chroma {
        case .quarter: ccolour_rgb_to_i420(pixels, planes(x: x, y: y))
        case .full: ccolour_rgb_to_i444(pixels, planes(x: x, y: y))
        }
    }
}

extension ChromaSampling {
    /// Pixels per chroma sample, in each direction.
    fileprivate var pixelsPerSample: Int {
        switch self {
        case .quarter: 2
        case .full: 1
        }
    }
}
