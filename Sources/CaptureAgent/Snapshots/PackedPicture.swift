import CYUV
package import Media

/// The red, green and blue of each pixel in memory of its own, in a frame's layout. Snapshots are made from it.
///
/// Owned by one thread.
package final class PackedPicture {
    package let description: FrameDescription
    package let first: UnsafeMutablePointer<UInt8>

    /// Spare bytes after the last row, and the alignment of rows, because libswscale's vector code reads and writes
    /// beyond the end of a row.
    private static let gap = 64

    /// Creates a black picture.
    package init(size: PictureSize, format: PixelFormat) {
        let stride = (size.width * PixelFormat.bytesPerPixel + Self.gap - 1) / Self.gap * Self.gap
        description = FrameDescription(size: size, stride: stride, format: format)
        let byteCount = stride * size.height + Self.gap
        let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: Self.gap)
        first = memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    }

    deinit {
        first.deallocate()
    }

    /// Copies a frame without an odd last column or row, as video does, and draws `pointer` over it.
    package convenience init(_ frame: FramePixels, pointer: Pointer?) {
        let source = frame.description
        self.init(size: source.size.even, format: source.format)
        frame.withFirst { pixels in
            let pixels = pixels.assumingMemoryBound(to: UInt8.self)
            for row in 0..<min(description.size.height, source.size.height) {
                let count = min(description.size.width, source.size.width) * PixelFormat.bytesPerPixel
                (first + row * description.stride).update(from: pixels + row * source.stride, count: count)
            }
        }
        if let pointer { draw(pointer) }
    }

    private func draw(_ pointer: Pointer) {
        guard let patch = PointerPatch(pointer, within: description.size) else { return }
        let pixels = patch.compose(over: first, description)
        let rowBytes = patch.size.width * PixelFormat.bytesPerPixel
        pixels.withUnsafeBufferPointer { pixels in
            for row in 0..<patch.size.height {
                let target = first + (patch.y + row) * description.stride + patch.x * PixelFormat.bytesPerPixel
                target.update(from: pixels.baseAddress! + row * rowBytes, count: rowBytes)
            }
        }
    }

    /// Returns the picture after clockwise quarter turns.
    func turned(_ turns: UInt8) -> PackedPicture {
        let size = description.size
        let (swaps, mode) = (turns % 2 == 1, [kRotate0, kRotate90, kRotate180, kRotate270][Int(turns % 4)])
        guard mode != kRotate0 else { return self }
        let turned = PackedPicture(
            size: swaps ? PictureSize(width: size.height, height: size.width) : size,
            format: description.format
        )
        // It fails only for null pointers and empty sizes.
        _ = ARGBRotate(
            first,
            Int32(description.stride),
            turned.first,
            Int32(turned.description.stride),
            Int32(size.width),
            Int32(size.height),
            mode
        )
        return turned
    }

    /// Returns the picture as `fit` places it: scaled, with black borders. Returns this picture if nothing is scaled.
    package func fitted(_ fit: PictureFit, by scaler: PackedScaler = .best) -> PackedPicture {
        guard !fit.isUnscaled else { return self }
        let picture = PackedPicture(size: fit.output, format: description.format)
        scaler.scale(self, into: picture, fit)
        return picture
    }
}
