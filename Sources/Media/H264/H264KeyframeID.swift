/// The `idr_pic_id` of an H.264 keyframe, which two consecutive keyframes must not share (7.4.3).
///
/// Each encoder counts from 0, so keyframes of two encoders in a row may have the same number. The number can be
/// changed without the encoder, because no decoded sample depends on it.
package struct H264KeyframeID: Sendable {
    /// The number, which is the same in all slices of the picture.
    package let value: Int
    /// The range of each slice without its start code, and the field that holds the number.
    private let slices: [(unit: Range<Int>, field: BitField)]

    /// The code of 15, which replaces 0. It is eight bits longer, so all that follows keeps its bit position and CABAC
    /// data stays aligned.
    private static let substituteOfZero: UInt16 = 0b0_0001_0000
    private static let largest = 65_535

    /// Finds the number in the slices of a keyframe.
    ///
    /// - Parameter accessUnit: Annex B bytes with the parameter sets that the slices name. Any bytes are safe.
    /// - Returns: `nil` if it is not an IDR picture or its headers cannot be read.
    package init?(of accessUnit: [UInt8]) {
        var sequences: [Int: H264SequenceParameterSet] = [:]
        var pictures: [Int: H264PictureParameterSet] = [:]
        var slices: [(unit: Range<Int>, field: BitField)] = []
        var value: Int?
        do throws(BitstreamError) {
            for unit in AnnexB.Units(accessUnit) {
                let bytes = accessUnit[in: unit.contents]
                guard let header = bytes.first else { continue }
                switch header & 0x1F {
                case 7:
                    let set = try H264SequenceParameterSet(unit: bytes)
                    sequences[set.id] = set
                case 8:
                    let set = try H264PictureParameterSet(unit: bytes)
                    pictures[set.id] = set
                case 1...5:
                    let slice = try H264SliceHeader(unit: bytes) { id in
                        guard let picture = pictures[id], let sequence = sequences[picture.sequenceID] else {
                            return nil
                        }
                        return (picture, sequence)
                    }
                    guard let id = slice.keyframeID, let field = slice.keyframeIDField, id == value ?? id else {
                        return nil
                    }
                    value = id
                    slices.append((unit.contents, field))
                default: break
                }
            }
        } catch {
            return nil
        }
        guard let value else { return nil }
        (self.value, self.slices) = (value, slices)
    }

    /// Returns the same picture with another number.
    ///
    /// The largest number is not changed, because no other number has a code of the same length.
    ///
    /// - Parameter accessUnit: The access unit that this value was created from.
    package func changed(in accessUnit: [UInt8]) -> [UInt8] {
        guard value < Self.largest else { return accessUnit }
        var changed: [UInt8] = []
        changed.reserveCapacity(accessUnit.count &+ 2 &* slices.count)
        // In one pass, because an agent may send a picture with very many slices.
        var place = 0
        for (unit, field) in slices {
            let count = (field.position &+ field.width &+ 7) / 8
            guard
                let (head, end) = EmulationPrevention.rewritten(
                    unit,
                    of: accessUnit,
                    payloadBytes: count,
                    by: { change(&$0, field) }
                )
            else { return accessUnit }
            var between = accessUnit[from: place]
            changed += between.takeFirst(unit.lowerBound &- place)
            changed += head
            place = end
        }
        changed += accessUnit[from: place]
        return changed
    }

    /// Changes the number at the end of a slice's first payload bytes.
    private func change(_ head: inout [UInt8], _ field: BitField) {
        guard value > 0 else { return insertSubstitute(in: &head, at: field.position) }
        // Two `ue(v)` codes that differ only in the last bit have the same length.
        let last = field.position &+ field.width &- 1
        guard let byte = head[at: last >> 3] else { return }
        head[at: last >> 3] = byte ^ UInt8(0x80) >> (last & 7)
    }

    /// Replaces the code of 0, which has one bit, by a code of nine bits.
    private func insertSubstitute(in head: inout [UInt8], at position: Int) {
        guard let byte = head.popLast() else { return }
        let offset = position & 7
        let before = UInt16(truncatingIfNeeded: byte & ~(UInt8.max >> offset)) << 8
        let after = UInt16(truncatingIfNeeded: byte & (UInt8(0x7F) >> offset))
        let both = before | Self.substituteOfZero << (7 &- offset) | after
        head.append(UInt8(truncatingIfNeeded: both >> 8))
        head.append(UInt8(truncatingIfNeeded: both))
    }
}
