import CLinux
import Glibc
import Media

/// Memory for one shot, into which a display server can write.
final class ShotMemory: @unchecked Sendable {
    // Unchecked because `pixels` is touched only in the source's thread, and the memory is written only while no frame
    // has the pixels.

    let description: FrameDescription
    let first: UnsafeMutableRawPointer
    /// The memory as a file, for the display server.
    let descriptor: Int32
    /// The size of all rows at their stride, including the last one.
    let byteCount: Int
    /// The pixels through which frames read the memory; gone when the last frame is.
    private weak var pixels: FramePixels?

    /// - Returns: `nil` if the system has no memory for it.
    init?(_ description: FrameDescription) {
        self.description = description
        byteCount = max(1, description.stride * description.size.height)
        descriptor = clinux_memfd("heliograph-shot", Int64(byteCount))
        guard descriptor >= 0 else { return nil }
        guard let mapped = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), mapped != MAP_FAILED
        else {
            close(descriptor)
            return nil
        }
        first = mapped
    }

    deinit {
        munmap(first, byteCount)
        close(descriptor)
    }

    /// Whether no frame reads the memory, so that it can be written.
    var isFree: Bool { pixels == nil }

    /// Returns the pixels for a frame, which share the memory. Call it once while the memory is free.
    func share() -> FramePixels {
        let pixels = FramePixels(sharing: first, description: description, owner: self)
        self.pixels = pixels
        return pixels
    }

    /// Returns whether the pixels are those of `other`.
    func hasSamePixels(as other: ShotMemory) -> Bool {
        guard description == other.description else { return false }
        let rowBytes = description.size.width * PixelFormat.bytesPerPixel
        return (0..<description.size.height).allSatisfy { row in
            memcmp(first + row * description.stride, other.first + row * description.stride, rowBytes) == 0
        }
    }

    /// Reverses the order of the rows.
    func turnOver() {
        let stride = description.stride
        withUnsafeTemporaryAllocation(byteCount: stride, alignment: 16) { row in
            guard let spare = row.baseAddress else { return }
            for upper in 0..<(description.size.height / 2) {
                let (one, other) = (first + upper * stride, first + (description.size.height - 1 - upper) * stride)
                memcpy(spare, one, stride)
                memcpy(one, other, stride)
                memcpy(other, spare, stride)
            }
        }
    }
}
