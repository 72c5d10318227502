package import Media

/// An image that another program has written as PNG, JPEG or PPM.
package protocol Image {
    /// Reads the header. `bytes` must stay valid until the image is drawn.
    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError)

    var size: PictureSize { get }

    /// Writes the pixels, as BGRx, into rows of `stride` bytes, starting at `first`.
    func draw(into first: UnsafeMutableRawPointer, stride: Int) throws(ImageError)
}

/// The reason why bytes cannot be read as an image, for people.
package struct ImageError: Error, Equatable {
    package let reason: String
}

/// A reader of all image formats, which it recognises by their first bytes.
package enum Images {
    /// Returns the image in `bytes`. Its size must be one that encoders accept.
    package static func read(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> any Image {
        let kind: any Image.Type
        if bytes.starts(with: PPMPicture.beginning) {
            kind = PPMPicture.self
        } else if bytes.starts(with: PNGPicture.beginning) {
            kind = PNGPicture.self
        } else if bytes.starts(with: JPEGPicture.beginning) {
            kind = JPEGPicture.self
        } else {
            throw ImageError(reason: bytes.isEmpty ? "nothing" : "no PNG, JPEG or PPM picture")
        }
        let picture = try kind.init(bytes)
        guard 2...8192 ~= picture.size.width, 2...8192 ~= picture.size.height else {
            throw ImageError(reason: "a picture of \(picture.size); sides may be 2 to 8192")
        }
        return picture
    }
}
