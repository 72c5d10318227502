import CPipeWire
import Media

/// A dequeued buffer whose pixels can be used: not empty, not marked corrupted, and with memory for all that its format says.
struct PipeWirePicture {
    /// Stamps older than this are not believed.
    private static let oldestStamp: UInt64 = 1_000_000_000

    private let pixels: UnsafeRawPointer
    private let description: FrameDescription
    private let captured: UInt64

    init?(_ buffer: UnsafeMutablePointer<pw_buffer>, size: PictureSize, pixels format: PixelFormat) {
        guard let spa = buffer.pointee.buffer, spa.pointee.n_datas > 0,
            let data = spa.pointee.datas, let chunk = data.pointee.chunk, let memory = data.pointee.data
        else { return nil }
        let header = spa_buffer_find_meta_data(spa, SPA_META_Header.rawValue, MemoryLayout<spa_meta_header>.size)?
            .assumingMemoryBound(to: spa_meta_header.self).pointee
        let isCorrupted =
            chunk.pointee.flags & Int32(SPA_CHUNK_FLAG_CORRUPTED) != 0
            || (header?.flags ?? 0) & UInt32(SPA_META_HEADER_FLAG_CORRUPTED) != 0
        guard !isCorrupted, chunk.pointee.size > 0 else { return nil }

        // Some producers leave the stride 0: rows then follow each other without a gap.
        let rowBytes = size.width * PixelFormat.bytesPerPixel
        let stride = chunk.pointee.stride > 0 ? Int(chunk.pointee.stride) : rowBytes
        let whole = FrameDescription(size: size, stride: stride, format: format)
        let offset = Int(chunk.pointee.offset)
        guard stride >= rowBytes, offset + whole.byteCount <= Int(data.pointee.maxsize) else { return nil }
        let crop = Self.crop(of: spa, within: size)
        description = FrameDescription(size: crop.size, stride: stride, format: format)
        pixels = UnsafeRawPointer(memory) + offset + crop.y * stride + crop.x * PixelFormat.bytesPerPixel
        captured = Self.captureTime(stamp: header?.pts, now: MonotonicClock.now)
    }

    /// The part of the buffer that is the picture: the crop metadata where it lies within `size`, else all of it.
    private static func crop(
        of buffer: UnsafeMutablePointer<spa_buffer>,
        within size: PictureSize
    ) -> (x: Int, y: Int, size: PictureSize) {
        let found = spa_buffer_find_meta_data(buffer, SPA_META_VideoCrop.rawValue, MemoryLayout<spa_meta_region>.size)
        guard let region = found?.assumingMemoryBound(to: spa_meta_region.self).pointee.region else {
            return (0, 0, size)
        }
        let (x, y) = (Int(region.position.x), Int(region.position.y))
        let (width, height) = (Int(region.size.width), Int(region.size.height))
        let isInside =
            x >= 0 && y >= 0 && width >= 2 && height >= 2 && x + width <= size.width && y + height <= size.height
        return isInside ? (x, y, PictureSize(width: width, height: height)) : (0, 0, size)
    }

    /// The header's stamp where it is plausible, else the time of arrival.
    private static func captureTime(stamp: Int64?, now: UInt64) -> UInt64 {
        guard let stamp, stamp > 0, UInt64(stamp) <= now, now - UInt64(stamp) < oldestStamp else { return now }
        return UInt64(stamp)
    }

    func leased(_ lease: BufferLease) -> CapturedFrame {
        CapturedFrame(leasing: pixels, description: description, captured: captured, lease: lease)
    }

    func copied() -> CapturedFrame {
        CapturedFrame(description: description, captured: captured) { memory in
            memory.copyMemory(from: UnsafeRawBufferPointer(start: pixels, count: description.byteCount))
        }
    }
}
