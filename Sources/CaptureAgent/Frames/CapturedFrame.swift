package import Media

/// One raw frame of the screen. Frames that differ only in where the pointer is share their pixels.
package struct CapturedFrame: Sendable {
    package var pixels: FramePixels
    /// When the frame was captured, monotonic ns.
    package var captured: UInt64
    /// To be drawn over the pixels; nil when there is none, or the desktop has drawn it already.
    package var pointer: Pointer?

    package init(_ pixels: FramePixels, captured: UInt64, pointer: Pointer? = nil) {
        self.pixels = pixels
        self.captured = captured
        self.pointer = pointer
    }

    package var description: FrameDescription { pixels.description }
}
