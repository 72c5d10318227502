import CPipeWire
import Media

/// The pointer, followed through the cursor metadata of a stream's buffers (`struct spa_meta_cursor`).
///
/// Every buffer reports the pointer's position, but its image and hotspot only when they have changed. So every buffer
/// must be read, in order.
struct PipeWirePointer {
    /// The side of the largest image that producers may report, in pixels.
    static let largestSide = 384
    /// The size of the metadata in bytes, from no image to the largest.
    static let metadataSizes: ClosedRange<Int> = {
        let descriptions = MemoryLayout<spa_meta_cursor>.size + MemoryLayout<spa_meta_bitmap>.size
        return descriptions...(descriptions + largestSide * largestSide * PixelFormat.bytesPerPixel)
    }()

    /// The positions of the red, green, blue and alpha bytes in a pixel.
    private static let formats: [(spa: spa_video_format, order: SIMD4<Int>)] = [
        (SPA_VIDEO_FORMAT_RGBA, SIMD4(0, 1, 2, 3)),
        (SPA_VIDEO_FORMAT_BGRA, SIMD4(2, 1, 0, 3)),
        (SPA_VIDEO_FORMAT_ARGB, SIMD4(1, 2, 3, 0)),
        (SPA_VIDEO_FORMAT_ABGR, SIMD4(3, 2, 1, 0)),
    ]

    /// The current pointer; `nil` if there is none, or if it has no image.
    private(set) var current: Pointer?
    /// The pixel of the picture that it is at, with an image or without; `nil` if it is on no picture.
    private(set) var place: SIMD2<Int>?
    /// The pointer's image, and which of its pixels is at the reported position.
    private var look: (image: PointerImage, hotspot: spa_point)?

    /// Reads the pointer from `buffer`.
    ///
    /// - Parameter origin: The picture's top left corner in the buffer.
    mutating func read(_ buffer: UnsafeMutablePointer<spa_buffer>, origin: (x: Int, y: Int)) {
        guard let meta = spa_buffer_find_meta(buffer, SPA_META_Cursor.rawValue), let data = meta.pointee.data,
            Int(meta.pointee.size) >= MemoryLayout<spa_meta_cursor>.size
        else { return }
        let metadata = UnsafeRawBufferPointer(start: data, count: Int(meta.pointee.size))
        let cursor = metadata.loadUnaligned(as: spa_meta_cursor.self)
        // An id of 0 means that there is no pointer on this screen.
        guard cursor.id != 0 else { return (current, place) = (nil, nil) }
        let place = SIMD2(Int(cursor.position.x) - origin.x, Int(cursor.position.y) - origin.y)
        self.place = place
        if cursor.bitmap_offset != 0 {
            look = Self.image(in: metadata, at: Int(cursor.bitmap_offset)).map { ($0, cursor.hotspot) }
        }
        current = look.map { look in
            Pointer(image: look.image, x: place.x - Int(look.hotspot.x), y: place.y - Int(look.hotspot.y))
        }
    }

    /// Returns the image at `offset`, or `nil` if it is empty or does not match its description.
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
