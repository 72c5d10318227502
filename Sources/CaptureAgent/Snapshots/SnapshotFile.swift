import CTurboJPEG
import Images
import Media
import Wire

/// The encoding of pictures as JPEG and PNG files.
enum SnapshotFile {
    /// Returns the file's bytes, or `nil` if the library fails.
    ///
    /// - Parameter orientation: Clockwise quarter turns that make the picture upright. Only a JPEG can store them.
    static func bytes(
        of picture: PackedPicture,
        format: SnapshotFormat,
        quality: UInt8,
        orientation: UInt8
    ) -> [UInt8]? {
        switch format {
        case .jpeg: jpeg(picture, quality: Int32(quality)).map { turned($0, orientation) }
        case .png:
            PNGFile.bytes(
                of: picture.first,
                stride: picture.description.stride,
                width: picture.description.size.width,
                height: picture.description.size.height,
                blueFirst: picture.description.format.blueFirst
            )
        }
    }

    /// Returns a JFIF file. The library converts to BT.601 in full range and, as in video, halves chroma in both
    /// directions.
    private static func jpeg(_ picture: PackedPicture, quality: Int32) -> [UInt8]? {
        guard let encoder = tjInitCompress() else { return nil }
        defer { tjDestroy(encoder) }
        let (size, subsampling) = (picture.description.size, Int32(TJSAMP_420.rawValue))
        let format = picture.description.format.blueFirst ? TJPF_BGRX : TJPF_RGBX
        var bytes: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(bytes) }
        let result = tjCompress2(
            encoder,
            picture.first,
            Int32(size.width),
            Int32(picture.description.stride),
            Int32(size.height),
            Int32(format.rawValue),
            &bytes,
            &count,
            subsampling,
            quality,
            TJFLAG_ACCURATEDCT
        )
        guard result == 0, let bytes else { return nil }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    private static func turned(_ file: [UInt8], _ orientation: UInt8) -> [UInt8] {
        // After the start of the image and the JFIF segment, whose first two bytes hold its length.
        let place = 4 + (Int(file[4]) << 8 | Int(file[5]))
        guard orientation != 0, place < file.count else { return file }
        return file[..<place] + ExifOrientation.segment(orientation) + file[place...]
    }
}

/// The JPEG segment that tells viewers how to rotate the picture.
enum ExifOrientation {
    /// The tag's values for 0 to 3 clockwise quarter turns that make the picture upright (Exif 2.32, 4.6.4).
    private static let values: [UInt8] = [1, 6, 3, 8]

    /// Returns an APP1 segment that holds only this tag (Exif 2.32, 4.5 and 4.6.2: big-endian TIFF).
    static func segment(_ quarterTurns: UInt8) -> [UInt8] {
        let tag: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, values[Int(quarterTurns) & 3], 0, 0]
        let tiff: [UInt8] = [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1] + tag + [0, 0, 0, 0]
        let body = Array("Exif".utf8) + [0, 0] + tiff
        return [0xFF, 0xE1, 0, UInt8(body.count + 2)] + body
    }
}
