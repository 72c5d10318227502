import CLinux
import Glibc
import Media

/// Memory for one shot, which a display server can be given to write into.
final class ShotMemory: @unchecked Sendable {
    // Unchecked because `pixels` is touched only in the source's thread, and the memory is written only while nobody has the pixels.

    let description: FrameDescription
    let first: UnsafeMutableRawPointer
    /// The memory as a file, for the display server.
    let descriptor: Int32
    /// All rows at their stride, the last one too.
    let byteCount: Int
    /// What frames read the memory by; gone when the last of them is.
    private weak var pixels: FramePixels?

    /// - Returns: nil where the system has no memory for it.
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

    /// Whether no frame reads the memory, so that it can be written to.
    var isFree: Bool { pixels == nil }

    /// The pixels for a frame, which share the memory. Once while it is free.
    func share() -> FramePixels {
        let pixels = FramePixels(sharing: first, description: description, owner: self)
        self.pixels = pixels
        return pixels
    }

    /// Whether the pixels are those of `other`.
    func hasSamePixels(as other: ShotMemory) -> Bool {
        guard description == other.description else { return false }
        let rowBytes = description.size.width * PixelFormat.bytesPerPixel
        return (0..<description.size.height).allSatisfy { row in
            memcmp(first + row * description.stride, other.first + row * description.stride, rowBytes) == 0
        }
    }

    /// Puts the last row first.
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
