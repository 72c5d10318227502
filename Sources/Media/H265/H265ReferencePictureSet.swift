/// The short-term references of a picture, `st_ref_pic_set( )` of H.265 7.3.7 with the derivation of 7.4.8.
package struct H265ReferencePictureSet: Sendable, Equatable {
    package struct Reference: Sendable, Equatable {
        /// Picture order count less that of the picture that holds the set; not 0.
        package var distance: Int
        /// Whether the picture itself may refer to it; if not, later pictures may.
        package var isUsed: Bool

        package init(distance: Int, isUsed: Bool) {
            self.distance = distance
            self.isUsed = isUsed
        }
    }

    /// The earlier pictures, the nearest first, then the later ones, the nearest first.
    package let references: [Reference]

    /// The most references of a set: `sps_max_dec_pic_buffering_minus1` is 15 at most (A.4.2).
    private static let most = 16
    private static let farthest = 1 << 15

    /// - Parameters:
    ///   - index: Of the set, the number of `sets` in a slice header.
    ///   - sets: The sets before it in the sequence parameter set, all of them in a slice header.
    ///   - isInSlice: Whether it stands in a slice header.
    init(
        _ reader: inout BitReader,
        index: Int,
        sets: [H265ReferencePictureSet],
        isInSlice: Bool
    ) throws(BitstreamError) {
        // inter_ref_pic_set_prediction_flag
        let isPredicted = index > 0 ? try reader.flag() : false
        references =
            isPredicted
            ? try Self.readPredicted(&reader, index: index, sets: sets, isInSlice: isInSlice)
            : try Self.readExplicit(&reader)
        guard references.count <= Self.most else { throw .outOfRange("NumDeltaPocs") }
    }

    private static func readExplicit(_ reader: inout BitReader) throws(BitstreamError) -> [Reference] {
        let negatives = try reader.ue("num_negative_pics", in: 0...most)
        let positives = try reader.ue("num_positive_pics", in: 0...most)
        var references: [Reference] = []
        for (count, direction) in [(negatives, -1), (positives, 1)] {
            var distance = 0
            for _ in 0..<count {
                distance += try direction * (reader.ue("delta_poc_minus1", in: 0...(farthest - 1)) + 1)
                references.append(Reference(distance: distance, isUsed: try reader.flag()))
            }
        }
        return references
    }

    private static func readPredicted(
        _ reader: inout BitReader,
        index: Int,
        sets: [H265ReferencePictureSet],
        isInSlice: Bool
    ) throws(BitstreamError) -> [Reference] {
        let back = isInSlice ? try reader.ue("delta_idx_minus1", in: 0...(index - 1)) + 1 : 1
        let isNegative = try reader.flag()
        let size = try reader.ue("abs_delta_rps_minus1", in: 0...(farthest - 1)) + 1
        let shift = isNegative ? -size : size
        var references: [Reference] = []
        for distance in sets[index - back].references.map(\.distance) + [0] {
            let isUsed = try reader.flag()
            // use_delta_flag is 1 where it is absent.
            let isKept = isUsed ? true : try reader.flag()
            if isKept, distance + shift != 0 {
                references.append(Reference(distance: distance + shift, isUsed: isUsed))
            }
        }
        references.sort { $0.distance > $1.distance }
        return references.filter { $0.distance < 0 } + references.filter { $0.distance > 0 }.reversed()
    }
}
