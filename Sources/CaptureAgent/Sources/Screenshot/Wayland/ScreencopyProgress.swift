import CWayland
import Media

/// What the compositor has reported about one shot so far.
final class ScreencopyProgress {
    /// Codes of `wl_shm_format`, which names bytes from the highest one of a little-endian word.
    private static let formats: [(code: UInt32, pixels: PixelFormat)] = [
        (WL_SHM_FORMAT_XRGB8888.rawValue, .bgrx),
        (WL_SHM_FORMAT_ARGB8888.rawValue, .bgra),
        (WL_SHM_FORMAT_XBGR8888.rawValue, .rgbx),
        (WL_SHM_FORMAT_ABGR8888.rawValue, .rgba),
    ]

    /// The required layout in memory, once it is known.
    private(set) var description: FrameDescription?
    /// Whether the last row comes first.
    fileprivate(set) var isTurnedOver = false
    /// When the screen looked like this, in ns of the compositor's clock; `nil` until the shot is done.
    fileprivate(set) var captured: Int64?
    fileprivate(set) var hasFailed = false

    var hasEnded: Bool { captured != nil || hasFailed }

    /// Returns the `wl_shm` code of a format.
    static func code(of pixels: PixelFormat) -> UInt32 { formats.first { $0.pixels == pixels }!.code }

    /// Accepts only pictures with four bytes per pixel and sides that encoders accept; all others fail.
    fileprivate func offered(format: UInt32, width: UInt32, height: UInt32, stride: UInt32) {
        guard let pixels = Self.formats.first(where: { $0.code == format })?.pixels, (2...8192).contains(width),
            (2...8192).contains(height), stride >= width * UInt32(PixelFormat.bytesPerPixel), stride <= 65_536
        else {
            hasFailed = true
            return
        }
        description = FrameDescription(
            size: PictureSize(width: Int(width), height: Int(height)),
            stride: Int(stride),
            format: pixels
        )
    }
}

// `nonisolated(unsafe)` because the table is never written.
nonisolated(unsafe) let screencopyEvents: UnsafePointer<cwayland_screencopy_frame_listener> = permanent(
    cwayland_screencopy_frame_listener(
        buffer: { data, _, format, width, height, stride in
            data.map(progress)?.offered(format: format, width: width, height: height, stride: stride)
        },
        flags: { data, _, flags in
            data.map(progress)?.isTurnedOver = flags & UInt32(CWAYLAND_SCREENCOPY_Y_INVERT) != 0
        },
        ready: { data, _, high, low, nanoseconds in
            let seconds = Int64(truncatingIfNeeded: UInt64(high) << 32 | UInt64(low))
            data.map(progress)?.captured = seconds &* 1_000_000_000 &+ Int64(nanoseconds)
        },
        failed: { data, _ in data.map(progress)?.hasFailed = true },
        damage: { _, _, _, _, _, _ in }
    )
)

/// Returns the progress from a listener's data pointer. It outlives its frame's proxy and thus the listener.
private func progress(_ data: UnsafeMutableRawPointer) -> ScreencopyProgress {
    Unmanaged<ScreencopyProgress>.fromOpaque(data).takeUnretainedValue()
}
