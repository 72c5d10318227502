import CPipeWire
import Media

/// A dequeued buffer whose pixels can be used: not empty, not marked corrupted, not shorter than its format says.
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
        description = FrameDescription(size: size, stride: stride, format: format)
        let offset = Int(chunk.pointee.offset)
        guard stride >= rowBytes, offset + description.byteCount <= Int(data.pointee.maxsize) else { return nil }
        pixels = UnsafeRawPointer(memory) + offset
        captured = Self.captureTime(stamp: header?.pts, now: MonotonicClock.now)
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
