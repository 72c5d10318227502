package import Media

/// A raw frame of the screen. Frames that differ only in the pointer's position share their contents.
package struct CapturedFrame: Sendable {
    package var contents: FrameContents
    /// When the frame was captured, in monotonic ns.
    package var captured: UInt64
    /// The pointer to draw over the pixels; `nil` if there is none or the desktop has already drawn it.
    package var pointer: Pointer?

    /// Clockwise quarter turns, 0 to 3, that make the picture upright.
    package var orientation: UInt8

    package init(_ contents: FrameContents, captured: UInt64, pointer: Pointer? = nil, orientation: UInt8 = 0) {
        self.contents = contents
        self.captured = captured
        self.pointer = pointer
        self.orientation = orientation
    }

    package init(_ pixels: FramePixels, captured: UInt64, pointer: Pointer? = nil, orientation: UInt8 = 0) {
        self.init(.memory(pixels), captured: captured, pointer: pointer, orientation: orientation)
    }

    package var description: FrameDescription { contents.description }
}

/// Where a frame's pixels are.
package enum FrameContents: Sendable {
    /// In memory, for any reader.
    case memory(FramePixels)
    /// In a DMA-BUF, for an encoder that imports it.
    case dmaBuf(DMABuf)

    package var description: FrameDescription {
        switch self {
        case .memory(let pixels): pixels.description
        case .dmaBuf(let buffer): buffer.description
        }
    }
}

/// The capture time of a frame, derived from the producer's timestamp.
package enum CaptureTime {
    /// The earliest timestamp that counts as plausible, in ns.
    private static let oldest: UInt64 = 1_000_000_000

    /// Returns the producer's timestamp if it is plausible, otherwise the time of arrival, in monotonic ns.
    ///
    /// - Parameter stamp: `nil`, 0 and negative values mean that there is none.
    package static func of(stamp: Int64?, arrival: UInt64) -> UInt64 {
        guard let stamp, stamp > 0, UInt64(stamp) <= arrival, arrival - UInt64(stamp) < oldest else { return arrival }
        return UInt64(stamp)
    }
}
