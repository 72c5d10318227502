import Glibc
package import Media

/// A raw picture in a DMA-BUF: memory of a device, usually a GPU, that other devices can read without the CPU.
///
/// It owns a duplicate of the descriptor, so the memory stays when the source takes the buffer away. The pixels then
/// stay as they are or show a later picture. Dropping the last reference returns the buffer to the source.
package final class DMABuf: Sendable {
    /// The modifier (`drm_fourcc.h`) for plain rows at the stride, the only layout that means the same to every device.
    package static let linear: UInt64 = 0

    /// Size, byte order, and bytes from one row to the next.
    package let description: FrameDescription
    /// The first pixel's position, in bytes from the buffer's start.
    package let offset: Int
    /// The layout of the pixels: `DRM_FORMAT_MOD_…` of `drm_fourcc.h`.
    package let modifier: UInt64
    /// The size of the whole buffer, in bytes.
    package let byteCount: Int
    package let descriptor: Int32
    private let lease: BufferLease

    /// - Parameters:
    ///   - original: The descriptor, which is duplicated.
    ///   - lease: Given back at once if the initializer fails.
    /// - Returns: `nil` if the descriptor cannot be duplicated or the buffer is smaller than the picture.
    package init?(
        duplicating original: Int32,
        description: FrameDescription,
        offset: Int,
        modifier: UInt64,
        lease: BufferLease
    ) {
        descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
        // The kernel reports a DMA-BUF's size this way; the size that producers report is often 0.
        byteCount = descriptor < 0 ? 0 : lseek(descriptor, 0, SEEK_END)
        self.description = description
        self.offset = offset
        self.modifier = modifier
        self.lease = lease
        guard offset + description.byteCount <= byteCount else { return nil }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        lease.giveBack()
    }
}
