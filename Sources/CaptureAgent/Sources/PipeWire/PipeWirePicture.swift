import CPipeWire
import Media

/// A dequeued buffer with usable pixels: not empty, not marked corrupted, and with memory for everything that its
/// format requires.
struct PipeWirePicture {
    private enum Place {
        case memory(first: UnsafeRawPointer)
        case dmaBuf(descriptor: Int32, offset: Int, modifier: UInt64)
    }

    /// The picture's top left corner in the buffer, in pixels.
    let origin: (x: Int, y: Int)
    /// Clockwise quarter turns, 0 to 3, that make the picture upright.
    let orientation: UInt8
    private let place: Place
    private let description: FrameDescription

    init?(_ buffer: UnsafeMutablePointer<spa_buffer>, format: PipeWireFormat) {
        guard buffer.pointee.n_datas > 0, let data = buffer.pointee.datas, let chunk = data.pointee.chunk
        else { return nil }
        let isCorrupted =
            chunk.pointee.flags & Int32(SPA_CHUNK_FLAG_CORRUPTED) != 0
            || (Self.header(of: buffer)?.flags ?? 0) & UInt32(SPA_META_HEADER_FLAG_CORRUPTED) != 0
        guard !isCorrupted, chunk.pointee.size > 0 else { return nil }

        // Some producers leave the stride 0, which means rows without gaps.
        let rowBytes = format.size.width * PixelFormat.bytesPerPixel
        let stride = chunk.pointee.stride > 0 ? Int(chunk.pointee.stride) : rowBytes
        let whole = FrameDescription(size: format.size, stride: stride, format: format.pixels)
        let offset = Int(chunk.pointee.offset)
        guard stride >= rowBytes else { return nil }
        let crop = Self.crop(of: buffer, within: format.size)
        description = FrameDescription(size: crop.size, stride: stride, format: format.pixels)
        origin = crop.origin
        orientation = Self.orientation(of: buffer)
        let first = offset + origin.y * stride + origin.x * PixelFormat.bytesPerPixel
        if data.pointee.type == SPA_DATA_DmaBuf.rawValue {
            guard let modifier = format.modifier else { return nil }
            place = .dmaBuf(descriptor: Int32(truncatingIfNeeded: data.pointee.fd), offset: first, modifier: modifier)
        } else {
            guard let memory = data.pointee.data, offset + whole.byteCount <= Int(data.pointee.maxsize) else {
                return nil
            }
            place = .memory(first: UnsafeRawPointer(memory) + first)
        }
    }

    /// Returns the header metadata of a buffer, if the producer adds it.
    static func header(of buffer: UnsafeMutablePointer<spa_buffer>) -> spa_meta_header? {
        spa_buffer_find_meta_data(buffer, SPA_META_Header.rawValue, MemoryLayout<spa_meta_header>.size)?
            .assumingMemoryBound(to: spa_meta_header.self).pointee
    }

    /// Returns the orientation.
    ///
    /// The metadata says how far the picture was turned counter-clockwise. A picture that was mirrored first is turned
    /// too, but stays mirrored.
    private static func orientation(of buffer: UnsafeMutablePointer<spa_buffer>) -> UInt8 {
        let byteCount = MemoryLayout<spa_meta_videotransform>.size
        let found = spa_buffer_find_meta_data(buffer, SPA_META_VideoTransform.rawValue, byteCount)
        return switch found?.assumingMemoryBound(to: spa_meta_videotransform.self).pointee.transform {
        case SPA_META_TRANSFORMATION_90.rawValue, SPA_META_TRANSFORMATION_Flipped90.rawValue: 1
        case SPA_META_TRANSFORMATION_180.rawValue, SPA_META_TRANSFORMATION_Flipped180.rawValue: 2
        case SPA_META_TRANSFORMATION_270.rawValue, SPA_META_TRANSFORMATION_Flipped270.rawValue: 3
        default: 0
        }
    }

    /// Returns the part of the buffer that holds the picture: the crop metadata if it lies within `size`, otherwise
    /// everything.
    private static func crop(
        of buffer: UnsafeMutablePointer<spa_buffer>,
        within size: PictureSize
    ) -> (origin: (x: Int, y: Int), size: PictureSize) {
        let found = spa_buffer_find_meta_data(buffer, SPA_META_VideoCrop.rawValue, MemoryLayout<spa_meta_region>.size)
        guard let region = found?.assumingMemoryBound(to: spa_meta_region.self).pointee.region else {
            return (origin: (x: 0, y: 0), size: size)
        }
        let (x, y) = (Int(region.position.x), Int(region.position.y))
        let (width, height) = (Int(region.size.width), Int(region.size.height))
        let isInside =
            x >= 0 && y >= 0 && width >= 2 && height >= 2 && x + width <= size.width && y + height <= size.height
        guard isInside else { return (origin: (x: 0, y: 0), size: size) }
        return (origin: (x: x, y: y), size: PictureSize(width: width, height: height))
    }

    /// Returns the picture in the buffer. If a DMA-BUF is not what the producer says, returns `nil` and gives the lease
    /// back.
    ///
    /// - Parameter memory: Returns the buffer's memory at a place.
    func leased(
        _ lease: BufferLease,
        memory: (_ first: UnsafeRawPointer, _ byteCount: Int) -> PixelMemory
    ) -> FrameContents? {
        switch place {
        case .memory(let first):
            let memory = memory(first, description.byteCount)
            return .memory(FramePixels(leasing: memory, description: description, lease: lease))
        case .dmaBuf(let descriptor, let offset, let modifier):
            let buffer = DMABuf(
                duplicating: descriptor,
                description: description,
                offset: offset,
                modifier: modifier,
                lease: lease
            )
            return buffer.map { .dmaBuf($0) }
        }
    }

    /// Returns a copy of the pixels, or `nil` for a DMA-BUF, which the CPU must not read.
    func copied() -> FramePixels? {
        guard case .memory(let first) = place else { return nil }
        return FramePixels(description: description) { memory in
            memory.copyMemory(from: UnsafeRawBufferPointer(start: first, count: description.byteCount))
        }
    }
}
