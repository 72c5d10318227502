/// The rules for consecutive access units of an H.265 stream.
struct H265Rules: CodecRules {
    private var sequences: [Int: [UInt8]] = [:]
    private var pictures: [Int: H265Picture] = [:]
    private var videoIDs = Set<Int>()
    /// The sequence parameter set of the last keyframe.
    private var sequence: [UInt8]?
    /// The last picture's picture order count; nil before the first keyframe.
    private var pictureOrder: Int?
    /// The difference between picture order counts: the encoder's choice, known from its first pictures.
    private var step: Int?
    /// The picture order counts of the pictures that the decoder holds.
    private var held: Set<Int> = []

    mutating func take(_ units: [[UInt8]]) -> [Violation] {
        var violations: [Violation] = []
        var slices: [H265Slice] = []
        var (sequenceIDs, pictureIDs) = (Set<Int>(), Set<Int>())
        var segments = 0
        for unit in units {
            let type = Int(unit[0] >> 1 & 0x3F)
            do throws(SyntaxReader.Malformed) {
                switch type {
                case 32 where segments == 0: try takeVideo(unit)
                case 33 where segments == 0: sequenceIDs.insert(try takeSequence(unit))
                case 34 where segments == 0: pictureIDs.insert(try takePicture(unit))
                case 1, 19, 20:
                    segments += 1
                    guard H265Slice.isFirst(unit) else { continue }
                    guard let slice = try readSlice(unit) else { return violations + [.missingParameterSet] }
                    slices.append(slice)
                case 35, 38, 39, 40: break
                default: violations.append(.unitType(type))
                }
            } catch {
                violations.append(.malformed(unitType: type))
            }
        }
        guard let slice = slices.first, slices.count == 1 else { return violations + [.notOnePicture] }
        if slice.isIDR {
            let isComplete =
                pictureIDs.contains(slice.pictureID)
                && pictures[slice.pictureID].map { sequenceIDs.contains($0.sequenceID) } ?? false
            if !isComplete { violations.append(.keyframeWithoutParameterSets) }
        }
        return violations + follow(slice)
    }

    private mutating func takeVideo(_ unit: [UInt8]) throws(SyntaxReader.Malformed) {
        var reader = SyntaxReader(unit)
        _ = try reader.u(16)
        videoIDs.insert(try reader.u(4))
    }

    private mutating func takeSequence(_ unit: [UInt8]) throws(SyntaxReader.Malformed) -> Int {
        let set = try H265Sequence(unit)
        sequences[set.id] = unit
        return set.id
    }

    private mutating func takePicture(_ unit: [UInt8]) throws(SyntaxReader.Malformed) -> Int {
        let set = try H265Picture(unit)
        pictures[set.id] = set
        return set.id
    }

    private func readSlice(_ unit: [UInt8]) throws(SyntaxReader.Malformed) -> H265Slice? {
        guard let picture = pictures[try H265Slice.pictureID(unit)], let sequence = sequences[picture.sequenceID],
            // sps_video_parameter_set_id
            videoIDs.contains(Int(sequence[2] >> 4))
        else { return nil }
        return try H265Slice(unit, picture, H265Sequence(sequence))
    }

    /// Compares a picture with the one before it.
    private mutating func follow(_ slice: H265Slice) -> [Violation] {
        let bytes = pictures[slice.pictureID].flatMap { sequences[$0.sequenceID] } ?? []
        guard let set = try? H265Sequence(bytes) else { return [.malformed(unitType: 33)] }
        guard !slice.isIDR else {
            sequence = bytes
            (pictureOrder, held) = (0, [0])
            return []
        }
        guard let last = pictureOrder else { return [.startsWithoutKeyframe] }
        var violations: [Violation] = []
        if sequence != bytes { violations.append(.sequenceChanges) }
        if set.hasLongTermReferences { violations.append(.unexpected("long-term references")) }
        if slice.kind == 0 { violations.append(.unexpected("B slices")) }
        let order = Self.pictureOrder(slice.pictureOrder, width: set.pictureOrderWidth, after: last)
        step = step ?? order - last
        if order <= last {
            violations.append(.pictureOrder(order, after: last))
        } else if let step, order != last + step {
            violations.append(.pictureOrderGap(order, expected: last + step))
        }
        violations += keep(slice, at: order, last: last)
        pictureOrder = order
        return violations
    }

    /// `PicOrderCntVal` of 8.3.1: every picture here is one that later ones count from.
    private static func pictureOrder(_ low: Int, width: Int, after last: Int) -> Int {
        let period = 1 << width
        let lastLow = last & (period - 1)
        var high = last - lastLow
        if low < lastLow, lastLow - low >= period / 2 { high += period }
        if low > lastLow, low - lastLow > period / 2 { high -= period }
        return high + low
    }

    /// The pictures that the decoder keeps, by 8.3.2.
    private mutating func keep(_ slice: H265Slice, at order: Int, last: Int) -> [Violation] {
        let named = slice.references.map { (order: order + $0.distance, isUsed: $0.isUsed) }
        let used = named.filter(\.isUsed)
        defer { held = held.intersection(named.map(\.order)).union([order]) }
        var violations: [Violation] = []
        if !named.contains(where: { $0.order == last }) { violations.append(.previousPictureNotKept) }
        // A picture to which no other refers may be missing.
        let isMissing = used.contains { !held.contains($0.order) } || slice.kind == 1 && used.isEmpty
        if isMissing { violations.append(.missingReference) }
        return violations
    }
}
