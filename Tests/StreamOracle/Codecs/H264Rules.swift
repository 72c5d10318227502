/// The rules for consecutive access units of an H.264 stream.
struct H264Rules: CodecRules {
    private struct Last {
        /// `idr_pic_id`; nil unless it is a keyframe.
        let keyframeID: Int?
        let pictureOrder: Int
    }

    private var sequences: [Int: [UInt8]] = [:]
    private var pictures: [Int: H264Picture] = [:]
    /// The sequence parameter set of the last keyframe.
    private var sequence: [UInt8]?
    private var last: Last?
    /// `frame_num` of the last picture, and how far it has wrapped since the keyframe.
    private var (frameNumber, frameNumberOffset) = (0, 0)
    /// `prevPicOrderCntMsb` and `prevPicOrderCntLsb` of 8.2.1.1.
    private var (orderHigh, orderLow) = (0, 0)
    /// How many reference pictures the decoder holds.
    private var references = 0

    mutating func take(_ units: [[UInt8]]) -> [Violation] {
        var violations: [Violation] = []
        var slices: [H264Slice] = []
        var (sequenceIDs, pictureIDs) = (Set<Int>(), Set<Int>())
        for unit in units {
            let type = Int(unit[0] & 0x1F)
            do throws(SyntaxReader.Malformed) {
                switch type {
                case 7 where slices.isEmpty: sequenceIDs.insert(try takeSequence(unit))
                case 8 where slices.isEmpty: pictureIDs.insert(try takePicture(unit))
                case 1, 5:
                    guard let slice = try readSlice(unit) else { return violations + [.missingParameterSet] }
                    slices.append(slice)
                case 6, 9, 12: break
                default: violations.append(.unitType(type))
                }
            } catch {
                violations.append(.malformed(unitType: type))
            }
        }
        guard let first = slices.first, first.firstMacroblock == 0,
            slices.dropFirst().allSatisfy({ $0.isOfPicture(of: first) && $0.firstMacroblock > 0 })
        else { return violations + [.notOnePicture] }
        violations += Set(slices.compactMap(\.unexpected)).sorted().map { Violation.unexpected($0) }
        if !first.isReference { violations.append(.unexpected("non-reference pictures")) }
        if first.isIDR {
            let isComplete = slices.allSatisfy { slice in
                pictureIDs.contains(slice.pictureID)
                    && pictures[slice.pictureID].map { sequenceIDs.contains($0.sequenceID) } ?? false
            }
            if !isComplete { violations.append(.keyframeWithoutParameterSets) }
        }
        return violations + follow(first, activeReferences: slices.map(\.activeReferences).max() ?? 0)
    }

    private mutating func takeSequence(_ unit: [UInt8]) throws(SyntaxReader.Malformed) -> Int {
        let set = try H264Sequence(unit)
        sequences[set.id] = unit
        return set.id
    }

    private mutating func takePicture(_ unit: [UInt8]) throws(SyntaxReader.Malformed) -> Int {
        let set = try H264Picture(unit)
        pictures[set.id] = set
        return set.id
    }

    private func readSlice(_ unit: [UInt8]) throws(SyntaxReader.Malformed) -> H264Slice? {
        guard let picture = pictures[try H264Slice.pictureID(unit)], let sequence = sequences[picture.sequenceID] else {
            return nil
        }
        return try H264Slice(unit, picture, H264Sequence(sequence))
    }

    /// Compares a picture with the one before it.
    private mutating func follow(_ slice: H264Slice, activeReferences: Int) -> [Violation] {
        let bytes = pictures[slice.pictureID].flatMap { sequences[$0.sequenceID] } ?? []
        guard let set = try? H264Sequence(bytes) else { return [.malformed(unitType: 7)] }
        var violations: [Violation] = []
        if slice.isIDR {
            if slice.frameNumber != 0 { violations.append(.keyframeNumber(slice.frameNumber)) }
            if let id = slice.keyframeID, last?.keyframeID == id { violations.append(.keyframeID(id)) }
            sequence = bytes
            (frameNumber, frameNumberOffset, orderHigh, orderLow, references) = (0, 0, 0, 0, 0)
        } else {
            guard last != nil else { return [.startsWithoutKeyframe] }
            if sequence != bytes { violations.append(.sequenceChanges) }
            violations += followNumber(slice, period: 1 << set.frameNumberWidth)
            if slice.isPredicted, activeReferences > references { violations.append(.missingReference) }
        }
        let order = pictureOrder(of: slice, set)
        if !slice.isIDR, let last, order <= last.pictureOrder {
            violations.append(.pictureOrder(order, after: last.pictureOrder))
        }
        references = min(references + 1, max(set.referenceFrames, 1))
        last = Last(keyframeID: slice.keyframeID, pictureOrder: order)
        return violations
    }

    /// `frame_num` of 7.4.3: one more than that of the picture before.
    private mutating func followNumber(_ slice: H264Slice, period: Int) -> [Violation] {
        let expected = (frameNumber + 1) % period
        defer {
            if slice.frameNumber < frameNumber { frameNumberOffset += period }
            frameNumber = slice.frameNumber
        }
        return slice.frameNumber == expected ? [] : [.frameNumber(slice.frameNumber, expected: expected)]
    }

    /// The picture order count of a frame's first field, by 8.2.1.1 or 8.2.1.3.
    private mutating func pictureOrder(of slice: H264Slice, _ set: H264Sequence) -> Int {
        guard set.pictureOrderType == 0 else { return 2 * (frameNumberOffset + frameNumber) }
        let period = 1 << set.pictureOrderWidth
        let low = slice.pictureOrder
        var high = orderHigh
        if !slice.isIDR {
            if low < orderLow, orderLow - low >= period / 2 { high += period }
            if low > orderLow, low - orderLow > period / 2 { high -= period }
        }
        (orderHigh, orderLow) = (high, low)
        return high + low
    }
}
