/// The short-term references of a picture, `st_ref_pic_set( )` of H.265 7.3.7, derived as in 7.4.8.
package struct H265ReferencePictureSet: Sendable, Equatable {
    package struct Reference: Sendable, Equatable {
        /// The reference's picture order count minus that of the current picture; not 0.
        package var distance: Int
        /// Whether the current picture may use it. If not, later pictures may.
        package var isUsed: Bool

        package init(distance: Int, isUsed: Bool) {
            self.distance = distance
            self.isUsed = isUsed
        }
    }

    /// The earlier pictures, nearest first, then the later ones, nearest first.
    package let references: [Reference]

    /// The most references in a set: `sps_max_dec_pic_buffering_minus1` is at most 15 (A.4.2).
    private static let most = 16
    /// The values of `delta_poc_s0_minus1`, `delta_poc_s1_minus1` and `abs_delta_rps_minus1`.
    private static let distances = 0...32_767

    /// - Parameters:
    ///   - sets: The preceding sets in the sequence parameter set; in a slice header, all of them.
    ///   - isInSlice: Whether this set is in a slice header.
    init(
        _ reader: inout BitReader,
        sets: [H265ReferencePictureSet],
        isInSlice: Bool
    ) throws(BitstreamError) {
        // inter_ref_pic_set_prediction_flag
        let isPredicted = sets.isEmpty ? false : try reader.flag()
        references =
            isPredicted
            ? try Self.readPredicted(&reader, sets: sets, isInSlice: isInSlice)
            : try Self.readExplicit(&reader)
        guard references.count <= Self.most else { throw .outOfRange("NumDeltaPocs") }
    }

    private static func readExplicit(_ reader: inout BitReader) throws(BitstreamError) -> [Reference] {
        let negatives = try reader.ue("num_negative_pics", in: 0...Self.most)
        let positives = try reader.ue("num_positive_pics", in: 0...Self.most)
        var references: [Reference] = []
        for (count, direction) in [(negatives, -1), (positives, 1)] {
            var distance = 0
            for _ in stride(from: 0, to: count, by: 1) {
                distance &+= try direction &* (reader.ue("delta_poc_minus1", in: distances) &+ 1)
                references.append(Reference(distance: distance, isUsed: try reader.flag()))
            }
        }
        return references
    }

    private static func readPredicted(
        _ reader: inout BitReader,
        sets: [H265ReferencePictureSet],
        isInSlice: Bool
    ) throws(BitstreamError) -> [Reference] {
        let back = isInSlice ? try reader.ue() &+ 1 : 1
        guard let base = sets[at: sets.count &- back] else { throw .outOfRange("delta_idx_minus1") }
        let isNegative = try reader.flag()
        let size = try reader.ue("abs_delta_rps_minus1", in: distances) &+ 1
        let shift = isNegative ? 0 &- size : size
        var references: [Reference] = []
        for distance in base.references.map(\.distance) + [0] {
            let isUsed = try reader.flag()
            // use_delta_flag is 1 if it is absent.
            let isKept = isUsed ? true : try reader.flag()
            if isKept, distance &+ shift != 0 {
                references.append(Reference(distance: distance &+ shift, isUsed: isUsed))
            }
        }
        references.sort { $0.distance > $1.distance }
        var ordered = references.filter { $0.distance < 0 }
        ordered.append(contentsOf: references.filter { $0.distance > 0 }.reversed())
        return ordered
    }
}
