import Glibc
package import Media

/// A raw picture in a DMA-BUF: memory of a device, most often a GPU, that other devices read without the CPU.
///
/// Its descriptor is its own, so the memory stays when the source takes the buffer away; the pixels then stay as they are, or belong to
/// a later picture. The buffer goes back to the source when the last reference is dropped.
package final class DMABuf: Sendable {
    /// The modifier (`drm_fourcc.h`) of rows that follow each other at the stride: the only layout that means the same to
    /// every device.
    package static let linear: UInt64 = 0

    /// Size, byte order, and bytes from one row to the next.
    package let description: FrameDescription
    /// The first pixel, bytes from the buffer's beginning.
    package let offset: Int
    /// How the pixels are laid out: `DRM_FORMAT_MOD_…` of `drm_fourcc.h`.
    package let modifier: UInt64
    /// The whole buffer's size.
    package let byteCount: Int
    package let descriptor: Int32
    private let lease: BufferLease

    /// - Parameters:
    ///   - original: Duplicated.
    ///   - lease: Given back at once where this fails.
    /// - Returns: nil where the descriptor cannot be duplicated, or the buffer is smaller than the picture.
    package init?(
        duplicating original: Int32,
        description: FrameDescription,
        offset: Int,
        modifier: UInt64,
        lease: BufferLease
    ) {
        descriptor = fcntl(original, F_DUPFD_CLOEXEC, 0)
        // The kernel tells a DMA-BUF's size this way; what producers say of it is often 0.
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
