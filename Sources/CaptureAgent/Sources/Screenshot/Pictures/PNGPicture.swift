import CPNG
package import Media

/// A PNG image, read with libpng's simplified interface.
package struct PNGPicture: Image {
    static let beginning: [UInt8] = [0x89, 0x50, 0x4E, 0x47]

    package let size: PictureSize
    private let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        try Self.check(png_image_begin_read_from_memory(&image, bytes.baseAddress, bytes.count), image)
        size = PictureSize(width: Int(image.width), height: Int(image.height))
        self.bytes = bytes
    }

    package func draw(into first: UnsafeMutableRawPointer, stride: Int) throws(ImageError) {
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        try Self.check(png_image_begin_read_from_memory(&image, bytes.baseAddress, bytes.count), image)
        // PNG_FORMAT_BGRA. Transparent pixels keep their colour, because a screen has no background.
        image.format = UInt32(PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_BGR)
        try Self.check(png_image_finish_read(&image, nil, first, Int32(stride), nil), image)
    }

    private static func check(_ result: Int32, _ image: png_image) throws(ImageError) {
        // Warnings count as errors: a damaged image is not shown.
        guard result == 0 || image.warning_or_error != 0 else { return }
        let message = withUnsafeBytes(of: image.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        throw ImageError(reason: "a broken PNG picture (\(message))")
    }
}
