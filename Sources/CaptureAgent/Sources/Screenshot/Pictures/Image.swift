package import Media

/// A picture that some program has written as PNG, JPEG or PPM.
package protocol Image {
    /// Reads the head. `bytes` have to stay until the picture is drawn.
    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError)

    var size: PictureSize { get }

    /// Writes the pixels, as BGRx, into rows of `stride` bytes from `first` on.
    func draw(into first: UnsafeMutableRawPointer, stride: Int) throws(ImageError)
}

/// Why bytes are no picture, for people.
package struct ImageError: Error, Equatable {
    package let reason: String
}

/// Reads pictures of all kinds, by how they begin.
package enum Images {
    /// The picture in `bytes`, of a size that encoders take.
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
