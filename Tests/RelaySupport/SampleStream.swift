package import Media

/// Access units that are well formed as far as a relay looks, and tell apart by their content.
package enum SampleStream {
    package static let parameterSets: [UInt8] = [
        0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1F, 0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80,
    ]

    /// - Parameters:
    ///   - number: Stands in the picture's bytes, and makes its PTS.
    ///   - size: Bytes of the slice.
    package static func accessUnit(
        _ number: Int,
        key: Bool,
        size: Int = 32,
        request: UInt32 = 0
    ) -> AccessUnit {
        AccessUnit(
            pts: Int64(number) * 33_333,
            captured: 1,
            encodeStart: 2,
            encodeEnd: 3,
            flags: key ? .key : [],
            keyframeRequest: request,
            size: PictureSize(width: 640, height: 360),
            bytes: (key ? parameterSets : []) + slice(number, key: key, size: size)
        )
    }

    /// The slice of picture `number`: start code, header, the number, filling.
    package static func slice(_ number: Int, key: Bool, size: Int = 32) -> [UInt8] {
        let digits = [UInt8(number >> 16 & 0x7F | 0x80), UInt8(number >> 8 & 0x7F | 0x80), UInt8(number & 0x7F | 0x80)]
        return [0, 0, 0, 1, key ? 0x65 : 0x41] + digits + [UInt8](repeating: 0xAA, count: size)
    }
}
