import CTurboJPEG
package import Media

/// A JPEG image.
package final class JPEGPicture: Image {
    static let beginning: [UInt8] = [0xFF, 0xD8, 0xFF]
    /// `TJFLAG_STOPONWARNING` rejects damaged images, and `TJFLAG_LIMITSCANS` those that are built to take forever.
    private static let flags = Int32(TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS)

    package let size: PictureSize
    private let bytes: UnsafeRawBufferPointer
    private let decoder: tjhandle

    package init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        guard let decoder = tjInitDecompress() else {
            throw ImageError(reason: "a picture, and no memory for it")
        }
        var (width, height, subsampling, colours) = (Int32(0), Int32(0), Int32(0), Int32(0))
        let data = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let result =
            tjDecompressHeader3(decoder, data, UInt(bytes.count), &width, &height, &subsampling, &colours)
        guard result == 0 else {
            let error = Self.error(decoder)
            tjDestroy(decoder)
            throw error
        }
        size = PictureSize(width: Int(width), height: Int(height))
        self.bytes = bytes
        self.decoder = decoder
    }

    deinit {
        tjDestroy(decoder)
    }

    package func draw(into first: UnsafeMutableRawPointer, stride: Int) throws(ImageError) {
        let result = tjDecompress2(
            decoder,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            UInt(bytes.count),
            first.assumingMemoryBound(to: UInt8.self),
            Int32(size.width),
            Int32(stride),
            Int32(size.height),
            Int32(TJPF_BGRX.rawValue),
            Self.flags
        )
        guard result == 0 else { throw Self.error(decoder) }
    }

    private static func error(_ decoder: tjhandle) -> ImageError {
        ImageError(reason: "a broken JPEG picture (\(String(cString: tjGetErrorStr2(decoder))))")
    }
}
