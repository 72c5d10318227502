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
