/// The shape of a sample: positive width and height, 1:1 on screens.
package struct SampleAspectRatio: Sendable, Hashable {
    package let width: Int
    package let height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// The meaning of a stream's numbers as colours: code points of ITU-T H.273.
package struct ColourDescription: Sendable, Hashable {
    /// `colour_primaries` (table 2); 2 means unspecified.
    package let primaries: UInt8
    /// `transfer_characteristics` (table 3); 2 means unspecified.
    package let transfer: UInt8
    /// `matrix_coefficients` (table 4); 2 means unspecified.
    package let matrix: UInt8
    package let isFullRange: Bool

    package init(primaries: UInt8, transfer: UInt8, matrix: UInt8, isFullRange: Bool) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.isFullRange = isFullRange
    }

    /// BT.709 in limited range, which the agent's pictures have.
    package static let bt709Limited = ColourDescription(primaries: 1, transfer: 1, matrix: 1, isFullRange: false)
}

/// The start of `vui_parameters( )` in both codecs, up to the chroma sample locations (H.264 E.1.1, H.265 E.2.1).
package struct VideoSignal: Sendable, Hashable {
    /// The shape of a sample; `nil` if it is unspecified.
    package let aspectRatio: SampleAspectRatio?
    /// The meaning of colours; `nil` if it is not given.
    package let colour: ColourDescription?

    /// Tables E-1 of both standards, starting at `aspect_ratio_idc` 1.
    private static let aspectRatios: [(Int, Int)] = [
        (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11),
        (80, 33), (18, 11), (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]
    /// The `aspect_ratio_idc` Extended_SAR.
    private static let extendedAspectRatio = 255
    /// The code point for unspecified values.
    private static let unspecified: UInt8 = 2

    /// - Parameter reader: Must be at `aspect_ratio_info_present_flag`. Afterwards it is after the chroma sample
    ///   locations.
    init(_ reader: inout BitReader) throws(BitstreamError) {
        aspectRatio = try reader.flag() ? try Self.readAspectRatio(&reader) : nil
        // overscan_info
        if try reader.flag() { try reader.skip(1) }
        colour = try reader.flag() ? try Self.readColour(&reader) : nil
        // chroma_sample_loc_type
        if try reader.flag() { try reader.skipCodes(2) }
    }

    private static func readAspectRatio(_ reader: inout BitReader) throws(BitstreamError) -> SampleAspectRatio? {
        let idc = try reader.u(8)
        if idc == extendedAspectRatio {
            let (width, height) = try (reader.u(16), reader.u(16))
            return width > 0 && height > 0 ? SampleAspectRatio(width: width, height: height) : nil
        }
        return aspectRatios[at: idc &- 1].map { SampleAspectRatio(width: $0.0, height: $0.1) }
    }

    private static func readColour(_ reader: inout BitReader) throws(BitstreamError) -> ColourDescription {
        // video_format
        try reader.skip(3)
        let isFullRange = try reader.flag()
        guard try reader.flag() else {
            return ColourDescription(
                primaries: unspecified,
                transfer: unspecified,
                matrix: unspecified,
                isFullRange: isFullRange
            )
        }
        return ColourDescription(
            primaries: try reader.u8(),
            transfer: try reader.u8(),
            matrix: try reader.u8(),
            isFullRange: isFullRange
        )
    }
}

extension PictureSize {
    /// Returns the size without the borders that four offsets in the stream cut off (left, right, top, bottom).
    ///
    /// The offsets are multiples of `columns` and `rows` luma samples.
    func cropped(_ reader: inout BitReader, columns: Int, rows: Int) throws(BitstreamError) -> PictureSize {
        let (left, right, top, bottom) = try (reader.ue(), reader.ue(), reader.ue(), reader.ue())
        let cropped = PictureSize(
            width: width &- columns &* (left &+ right),
            height: height &- rows &* (top &+ bottom)
        )
        guard cropped.width > 0, cropped.height > 0 else { throw .outOfRange("cropping") }
        return cropped
    }
}
