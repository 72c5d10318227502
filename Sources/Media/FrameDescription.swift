/// The order of the four bytes of one packed pixel in memory, lowest address first. `x` and `a` are ignored.
package enum PixelFormat: String, Sendable, Codable, CaseIterable {
    case bgrx, bgra, rgbx, rgba

    /// The number of bytes per pixel.
    package static let bytesPerPixel = 4

    /// Whether blue is at the lowest address.
    package var blueFirst: Bool {
        switch self {
        case .bgrx, .bgra: true
        case .rgbx, .rgba: false
        }
    }
}

/// Width and height of a picture in pixels.
package struct PictureSize: Sendable, Hashable, Codable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    package var description: String { "\(width)x\(height)" }

    /// Both sides rounded down to even numbers, as 4:2:0 video needs, and at least 2.
    package var even: PictureSize {
        PictureSize(width: max(2, width & ~1), height: max(2, height & ~1))
    }
}

/// The layout of a raw frame's pixels in memory.
package struct FrameDescription: Sendable, Hashable {
    package var size: PictureSize
    /// Bytes from one row to the next; at least four times the width.
    package var stride: Int
    package var format: PixelFormat

    package init(size: PictureSize, stride: Int, format: PixelFormat) {
        self.size = size
        self.stride = stride
        self.format = format
    }

    /// The number of bytes from the first pixel to the end of the last row's last pixel.
    package var byteCount: Int {
        guard size.height > 0 else { return 0 }
        return stride * (size.height - 1) + size.width * PixelFormat.bytesPerPixel
    }
}
