import Media
import TestSupport

/// Access units with real parameter sets and slices without content.
enum Sample {
    /// 1920x1080: 120x68 macroblocks of which eight rows are cropped; square samples, BT.709 in limited range.
    /// Constrained baseline, level 4.
    static let sequenceH264: [UInt8] = {
        var writer = BitWriter()
        writer.u(32, 0x6742_C028)
        for value in [0, 0, 2, 1] { writer.ue(value) }  // id, frame_num width, order type, reference frames
        writer.flag(false)
        writer.ue(119)
        writer.ue(67)
        writer.u(2, 0b11)  // frames only, direct_8x8_inference_flag
        writer.flag(true)
        for value in [0, 0, 0, 4] { writer.ue(value) }
        writer.flag(true)
        writer.flag(true)
        writer.u(8, 1)  // square
        writer.flag(false)
        writer.flag(true)
        writer.u(3, 5)
        writer.flag(false)  // limited range
        writer.flag(true)
        writer.u(24, 0x010101)
        writer.flag(false)
        writer.u(5, 0)  // no timing, HRD, picture structure, restrictions
        writer.trailingBits()
        return Array(writer.annexBUnit().dropFirst(4))
    }()
    static let pictureH264: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]
    /// A parameter set like the one that repeats need.
    static let secondPictureH264: [UInt8] = [0x68, 0x5B, 0x8F, 0x20]

    static let setsH264 = [sequenceH264, pictureH264, secondPictureH264]

    static func accessUnit(
        pts: Int64 = 0,
        key: Bool = true,
        _ units: [[UInt8]],
        startCode: [UInt8] = [0, 0, 0, 1]
    ) -> AccessUnit {
        AccessUnit(
            pts: pts,
            captured: 0,
            encodeStart: 0,
            encodeEnd: 0,
            flags: key ? .key : [],
            size: PictureSize(width: 1920, height: 1080),
            bytes: units.flatMap { startCode + $0 }
        )
    }

    /// A complete keyframe of H.264.
    static func keyframe(pts: Int64 = 0) -> AccessUnit {
        accessUnit(pts: pts, setsH264 + [[0x65, 0x88, 0x84, 0x21]])
    }

    static func predicted(pts: Int64) -> AccessUnit {
        accessUnit(pts: pts, key: false, [[0x41, 0x9A, 0x02]])
    }

    /// Random bytes with emulation prevention, like a slice; the first is the NAL unit's header.
    static func slice(header: [UInt8], size: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        // Few values, so that emulation prevention is needed often.
        let values: [UInt8] = [0, 0, 0, 1, 2, 3, 0xFF, 0x80]
        let payload = (0..<size).map { _ in values[Int.random(in: values.indices, using: &generator)] }
        return header + EmulationPrevention.escaped(payload + [0x80])
    }
}
