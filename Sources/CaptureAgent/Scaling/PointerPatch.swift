import Media

/// The part of a frame that the pointer covers, with even sides so that it can be converted separately.
struct PointerPatch {
    /// The patch's top left corner in the frame, in pixels.
    let x: Int
    let y: Int
    let size: PictureSize
    private let pointer: Pointer

    /// - Parameter frame: The frame's size; both sides even.
    /// - Returns: `nil` if the pointer lies outside the frame.
    init?(_ pointer: Pointer, within frame: PictureSize) {
        let image = pointer.image.size
        let (left, right) = (max(0, pointer.x) & ~1, (min(frame.width, pointer.x + image.width) + 1) & ~1)
        let (top, bottom) = (max(0, pointer.y) & ~1, (min(frame.height, pointer.y + image.height) + 1) & ~1)
        guard left < right, top < bottom else { return nil }
        (x, y) = (left, top)
        size = PictureSize(width: right - left, height: bottom - top)
        self.pointer = pointer
    }

    /// Copies the patch from the frame and draws the pointer over it.
    ///
    /// - Parameter frame: The frame's first pixel.
    /// - Returns: Rows without gaps, in the frame's byte order.
    func compose(over frame: UnsafePointer<UInt8>, _ description: FrameDescription) -> [UInt8] {
        let rowBytes = size.width * PixelFormat.bytesPerPixel
        var patch: [UInt8] = []
        patch.reserveCapacity(rowBytes * size.height)
        for row in y..<(y + size.height) {
            let first = frame + row * description.stride + x * PixelFormat.bytesPerPixel
            patch.append(contentsOf: UnsafeBufferPointer(start: first, count: rowBytes))
        }
        for row in max(y, pointer.y)..<min(y + size.height, pointer.y + pointer.image.size.height) {
            for column in max(x, pointer.x)..<min(x + size.width, pointer.x + pointer.image.size.width) {
                let offset = (row - y) * rowBytes + (column - x) * PixelFormat.bytesPerPixel
                blend(column: column, row: row, into: &patch, at: offset, description.format)
            }
        }
        return patch
    }

    private func blend(column: Int, row: Int, into patch: inout [UInt8], at offset: Int, _ format: PixelFormat) {
        let own = ((row - pointer.y) * pointer.image.size.width + column - pointer.x) * PixelFormat.bytesPerPixel
        let transparency = 255 - Int(pointer.image.rgba[own + 3])
        for channel in 0..<3 {
            let index = offset + (format.blueFirst ? 2 - channel : channel)
            let below = (Int(patch[index]) * transparency + 127) / 255
            patch[index] = UInt8(clamping: Int(pointer.image.rgba[own + channel]) + below)
        }
    }
}
