package import Media
package import TestSupport

/// Access units that a relay accepts as well formed, and that their content tells apart.
package enum SampleStream {
    /// SPS and PPS of H.264.
    package static let parameterSets: [UInt8] = [
        0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1F, 0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80,
    ]

    /// VPS, SPS and PPS of H.265.
    package static let h265ParameterSets: [UInt8] = [
        0, 0, 0, 1, 0x40, 0x01, 0x0C, 0, 0, 0, 1, 0x42, 0x01, 0x01, 0, 0, 0, 1, 0x44, 0x01, 0xC1,
    ]

    /// A picture of H.265: a keyframe has its parameter sets, supplemental information as x265 writes it, and an IDR
    /// slice.
    package static func h265AccessUnit(_ number: Int, key: Bool) -> AccessUnit {
        var unit = accessUnit(number, key: key)
        unit.bytes = (key ? h265ParameterSets : []) + h265Slice(number, key: key)
        return unit
    }

    /// The NAL units after the parameter sets in ``h265AccessUnit(_:key:)``.
    package static func h265Slice(_ number: Int, key: Bool) -> [UInt8] {
        let information: [UInt8] = key ? [0, 0, 1, 0x4E, 0x01, 0x05] : []
        return information + [0, 0, 0, 1, key ? 0x26 : 0x02, 0x01, UInt8(number & 0x7F | 0x80), 0xAA]
    }

    /// The pictures of a real stream.
    ///
    /// - Parameter first: The number of the first one, which makes its PTS.
    package static func accessUnits(of source: SourceStream, from first: Int = 0) -> [AccessUnit] {
        source.accessUnits.enumerated().map { index, bytes in
            var unit = accessUnit(first + index, key: source.keyframes.contains(index))
            unit.bytes = bytes
            return unit
        }
    }

    /// A picture of H.264.
    ///
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
