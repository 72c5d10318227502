package import Media

/// A picture of 32x32 by x264 (build 164) that is static: a keyframe that a session can rest on, and pictures that go
/// on from it.
package struct StaticStream {
    package static let size = PictureSize(width: 32, height: 32)

    private static let keyframe =
        unit("6742C00ADA25B0110000030001000003003C8F1226A0") + unit("68CE013720")
        + unit(
            "6588843A0C60061F3F3019FD535099E6644CC9E4CE174D6AB2C29F0815761CC1E840C308888E18A1404DB49FB847D1A6140264809FB73E40"
                + "7CAE5D115905F00CEF96DB00C71C991DF917D3B8E3AE998ACC761EC7A3677686DA6371A51A2CB139A8D3381050C3024419194B1EB35C41CB"
                + "37CE27AE37F82CA6A490E5691E8E17B3F63E1870A800D175FAD7E343123ABB9095DC845EF80BBE02F650D00C003050FFEDFB167D88"
        )
    private static let predicted = unit("419A228B")

    private static func unit(_ digits: String) -> [UInt8] {
        let digits = digits.utf8.map { UInt8(truncatingIfNeeded: Character(UnicodeScalar($0)).hexDigitValue ?? 0) }
        return [0, 0, 0, 1] + stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    private var stream = RepeatableStream(codec: .h264)

    package init() {}

    /// A keyframe, a picture and a keyframe that a session can rest on, as an agent sends them.
    package mutating func beginning() throws -> [AccessUnit] {
        try [Self.keyframe, Self.predicted, Self.keyframe].enumerated().map { number, bytes in
            Self.accessUnit(try stream.live(bytes), pts: Int64(number) * 33_333, isKey: number != 1)
        }
    }

    /// The next picture after a rest.
    package mutating func picture(after inserted: Int, keyframeWasResent: Bool, pts: Int64) throws -> AccessUnit {
        stream.follow(inserted: inserted, keyframeWasResent: keyframeWasResent)
        return Self.accessUnit(try stream.live(Self.predicted), pts: pts, isKey: false)
    }

    /// A keyframe that a session can rest on.
    package static func restingKeyframe(pts: Int64) throws -> AccessUnit {
        var stream = StaticStream()
        var unit = try stream.beginning()[2]
        unit.pts = pts
        return unit
    }

    package static func accessUnit(_ bytes: [UInt8], pts: Int64, isKey: Bool) -> AccessUnit {
        AccessUnit(
            pts: pts,
            captured: 1,
            encodeStart: 2,
            encodeEnd: 3,
            flags: isKey ? .key : [],
            size: size,
            bytes: bytes
        )
    }
}
