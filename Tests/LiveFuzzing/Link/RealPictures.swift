import Media
import TestSupport

/// A real encoder's pictures of one codec, in groups that begin with a keyframe.
struct RealPictures {
    /// Pictures per group.
    private static let groupSize = 10
    private static let groupCount = 12

    let groups: [[[UInt8]]]

    /// Loads those of all codecs.
    static func load() throws -> [Codec: RealPictures] {
        [
            .h264: try RealPictures(.x264),
            .h265: try RealPictures(.x265),
        ]
    }

    private init(_ encoder: SourceSettings.Encoder) throws {
        let count = Self.groupSize * Self.groupCount
        let stream = try SourceStream(
            SourceSettings(
                name: "\(encoder)",
                encoder: encoder,
                // Small ones, which need few transport stream packets.
                size: PictureSize(width: 64, height: 64),
                keyframes: Set(stride(from: 0, to: count, by: Self.groupSize)),
                pictures: count
            )
        )
        let ends = stream.keyframes.dropFirst() + [stream.accessUnits.count]
        groups = zip(stream.keyframes, ends).map { Array(stream.accessUnits[$0..<$1]) }
        guard groups.count == Self.groupCount else {
            throw NeverCame(description: "\(Self.groupCount) groups of \(encoder)")
        }
    }

    /// Returns a picture with a number: after the parameter sets of a keyframe, or before any other picture.
    static func numbered(_ picture: [UInt8], _ number: UInt64, codec: Codec) -> [UInt8] {
        let place = AnnexB.units(in: picture).first {
            !NALUnitKind(header: picture[$0.header], codec: codec).isParameterSet
        }
        let start = place?.range.lowerBound ?? 0
        return picture[..<start] + Marker.unit(number, codec: codec) + picture[start...]
    }
}
