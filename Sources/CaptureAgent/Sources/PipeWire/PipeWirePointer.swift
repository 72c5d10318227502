import CPipeWire
import Media

/// Follows the pointer through the cursor metadata of a stream's buffers (`struct spa_meta_cursor`).
///
/// A buffer tells where the pointer is, and what it looks like, hotspot included, only when that has changed: every buffer has to be
/// read, in order.
struct PipeWirePointer {
    /// The largest image that producers are asked to tell, in pixels a side.
    static let largestSide = 384
    /// What the metadata takes, in bytes, from no image to the largest.
    static let metadataSizes: ClosedRange<Int> = {
        let descriptions = MemoryLayout<spa_meta_cursor>.size + MemoryLayout<spa_meta_bitmap>.size
        return descriptions...(descriptions + largestSide * largestSide * PixelFormat.bytesPerPixel)
    }()

    /// Where the bytes of red, green, blue and alpha stand in a pixel.
    private static let formats: [(spa: spa_video_format, order: SIMD4<Int>)] = [
        (SPA_VIDEO_FORMAT_RGBA, SIMD4(0, 1, 2, 3)),
        (SPA_VIDEO_FORMAT_BGRA, SIMD4(2, 1, 0, 3)),
        (SPA_VIDEO_FORMAT_ARGB, SIMD4(1, 2, 3, 0)),
        (SPA_VIDEO_FORMAT_ABGR, SIMD4(3, 2, 1, 0)),
    ]

    /// The pointer as it is now; nil where there is none.
    private(set) var current: Pointer?
    /// What it looks like, and which of its pixels stands at the place that is told.
    private var look: (image: PointerImage, hotspot: spa_point)?

    /// Takes what `buffer` tells.
    ///
    /// - Parameter origin: The picture's top left corner in the buffer.
    mutating func read(_ buffer: UnsafeMutablePointer<spa_buffer>, origin: (x: Int, y: Int)) {
        guard let meta = spa_buffer_find_meta(buffer, SPA_META_Cursor.rawValue), let data = meta.pointee.data,
            Int(meta.pointee.size) >= MemoryLayout<spa_meta_cursor>.size
        else { return }
        let metadata = UnsafeRawBufferPointer(start: data, count: Int(meta.pointee.size))
        let cursor = metadata.loadUnaligned(as: spa_meta_cursor.self)
        // An id of 0 says that there is no pointer on this screen.
        guard cursor.id != 0 else { return current = nil }
        if cursor.bitmap_offset != 0 {
            look = Self.image(in: metadata, at: Int(cursor.bitmap_offset)).map { ($0, cursor.hotspot) }
        }
        current = look.map { look in
            Pointer(
                image: look.image,
                x: Int(cursor.position.x) - Int(look.hotspot.x) - origin.x,
                y: Int(cursor.position.y) - Int(look.hotspot.y) - origin.y
            )
        }
    }

    /// The image that stands at `offset`; nil when it is empty, or not what its description says.
    private static func image(in metadata: UnsafeRawBufferPointer, at offset: Int) -> PointerImage? {
        guard offset + MemoryLayout<spa_meta_bitmap>.size <= metadata.count else { return nil }
        let bitmap = metadata.loadUnaligned(fromByteOffset: offset, as: spa_meta_bitmap.self)
        let size = PictureSize(width: Int(bitmap.size.width), height: Int(bitmap.size.height))
        guard let format = formats.first(where: { $0.spa.rawValue == bitmap.format }), bitmap.offset != 0,
            1...largestSide ~= size.width, 1...largestSide ~= size.height
        else { return nil }
        let stride = Int(bitmap.stride)
        let first = offset + Int(bitmap.offset)
        let rowBytes = size.width * PixelFormat.bytesPerPixel
        guard stride >= rowBytes, first + stride * (size.height - 1) + rowBytes <= metadata.count else { return nil }
        var rgba: [UInt8] = []
        rgba.reserveCapacity(rowBytes * size.height)
        for row in 0..<size.height {
            for pixel in Swift.stride(from: first + row * stride, to: first + row * stride + rowBytes, by: 4) {
                for channel in 0..<4 { rgba.append(metadata[pixel + format.order[channel]]) }
            }
        }
        return PointerImage(size: size, rgba: rgba)
    }
}
