package import Media

/// One raw frame of the screen. Frames that differ only in where the pointer is share their contents.
package struct CapturedFrame: Sendable {
    package var contents: FrameContents
    /// When the frame was captured, monotonic ns.
    package var captured: UInt64
    /// To be drawn over the pixels; nil when there is none, or the desktop has drawn it already.
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

/// When a frame was captured, from what its producer says.
package enum CaptureTime {
    /// Stamps older than this are not believed, ns.
    private static let oldest: UInt64 = 1_000_000_000

    /// The producer's stamp where it is plausible, else the time of arrival; monotonic ns.
    ///
    /// - Parameter stamp: nil, 0 and negative values stand for none.
    package static func of(stamp: Int64?, arrival: UInt64) -> UInt64 {
        guard let stamp, stamp > 0, UInt64(stamp) <= arrival, arrival - UInt64(stamp) < oldest else { return arrival }
        return UInt64(stamp)
    }
}
