package import Media

/// The mouse pointer at one moment.
package struct Pointer: Sendable, Equatable {
    package var image: PointerImage
    /// The image's top left corner in the frame, in pixels; may lie outside.
    package var x: Int
    package var y: Int

    package init(image: PointerImage, x: Int, y: Int) {
        self.image = image
        self.x = x
        self.y = y
    }
}

/// What the pointer looks like. Two are equal when they are the same object.
package final class PointerImage: Sendable, Equatable {
    package let size: PictureSize
    /// Rows without gaps of red, green, blue and alpha, the colours multiplied by alpha already.
    package let rgba: [UInt8]

    /// - Parameter rgba: `size.width * size.height` pixels of 4 bytes.
    package init(size: PictureSize, rgba: [UInt8]) {
        precondition(rgba.count == size.width * size.height * 4)
        self.size = size
        self.rgba = rgba
    }

    package static func == (one: PointerImage, other: PointerImage) -> Bool { one === other }
}
