package import Media

/// The mouse pointer at one moment.
package struct Pointer: Sendable, Equatable {
    package var image: PointerImage
    /// The image's top left corner in the frame, in pixels; may lie outside the frame.
    package var x: Int
    package var y: Int

    package init(image: PointerImage, x: Int, y: Int) {
        self.image = image
        self.x = x
        self.y = y
    }
}

/// The appearance of the pointer. Two images are equal if they are the same object.
package final class PointerImage: Sendable, Equatable {
    package let size: PictureSize
    /// Rows of red, green, blue and alpha without gaps; the colours are already multiplied by alpha.
    package let rgba: [UInt8]

    /// - Parameter rgba: `size.width * size.height` pixels of 4 bytes.
    package init(size: PictureSize, rgba: [UInt8]) {
        precondition(rgba.count == size.width * size.height * 4)
        self.size = size
        self.rgba = rgba
    }

    package static func == (one: PointerImage, other: PointerImage) -> Bool { one === other }
}
