/// Repeats in an H.264 stream. Each inserted picture raises the later pictures' `frame_num` and `pic_order_cnt_lsb` (if
/// present).
struct H264Repeats: RepeatCoding {
    /// `nal_unit_type` (table 7-1).
    private enum UnitType {
        static let slice = 1, idrSlice = 5, information = 6, sequence = 7, picture = 8, delimiter = 9, filler = 12
    }

    /// An access unit delimiter that allows P and I slices (7.3.2.4), for streams that have delimiters.
    private static let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0x30]
    /// The difference of `pic_order_cnt_lsb` between two frames: it counts fields.
    private static let pictureOrderStep = 2

    private(set) var inserted = 0
    /// The contents of the access unit that was read last.
    private var contents = AccessUnitContents<H264SliceHeader>()
    private var sequences: [Int: H264SequenceParameterSet] = [:]
    private var pictures: [Int: H264PictureParameterSet] = [:]
    /// The sequence parameter set of the last picture.
    private var sequence: H264SequenceParameterSet?
    /// The id of the parameter set for skip pictures.
    private var parameterSetID = 0
    /// The last picture's `frame_num` and `pic_order_cnt_lsb` as sent, and the last IDR picture's `pic_order_cnt_lsb`.
    private var (frameNumber, pictureOrder, keyframePictureOrder) = (0, 0, 0)
    private var isDelimited = false

    mutating func accept(_ accessUnit: [UInt8]) throws(RepeatRefusal) -> AcceptedPicture {
        try read(accessUnit)
        guard let first = contents.slices.first?.header, let sequence = sequence(of: first) else {
            throw .notOnePicture
        }
        var edit = AccessUnitEdit()
        if let place = contents.parameterSetsEnd {
            guard let free = (0...31).last(where: { pictures[$0] == nil }) else { throw .noFreeParameterSetID }
            parameterSetID = free
            edit.insertion = (place, H264SkipPicture.parameterSet(id: free, sequenceID: sequence.id))
        }
        self.sequence = sequence
        isDelimited = contents.isDelimited
        if first.isIDR {
            guard contents.slices.allSatisfy({ contents.pictureIDs.contains($0.header.parameterSetID) }),
                contents.sequenceIDs.contains(sequence.id)
            else { throw .keyframeWithoutParameterSets }
            guard first.frameNumber == 0 else { throw .gap }
            inserted = 0
            (frameNumber, pictureOrder) = (0, first.pictureOrder ?? 0)
            keyframePictureOrder = pictureOrder
        } else {
            try advance(to: first, sequence)
            if inserted > 0 { edit.slices = contents.slices.map { ($0.unit, fields(of: $0.header)) } }
        }
        let isPredicted = contents.slices.contains { $0.header.kind == .p }
        return AcceptedPicture(isIDR: first.isIDR, isPredicted: isPredicted, edit: edit)
    }

    mutating func skip() -> [UInt8]? {
        guard let sequence else { return nil }
        advance(by: 1)
        let slice = H264SkipPicture.slice(
            parameterSetID: parameterSetID,
            sequence: sequence,
            frameNumber: frameNumber,
            pictureOrder: pictureOrder
        )
        return isDelimited ? Self.delimiter + slice : slice
    }

    mutating func restart() {
        inserted = 0
        (frameNumber, pictureOrder) = (0, keyframePictureOrder)
    }

    mutating func advance(by count: Int) {
        guard let sequence else { return }
        inserted &+= count
        frameNumber = (frameNumber &+ count).wrapped(to: sequence.frameNumberWidth)
        pictureOrder = (pictureOrder &+ Self.pictureOrderStep &* count).wrapped(to: sequence.pictureOrderWidth)
    }

    mutating func resume(at keyframe: [UInt8]) throws(RepeatRefusal) {
        try read(keyframe)
        guard let first = contents.slices.first?.header, first.isIDR else { throw .notOnePicture }
        // If the access unit already has the skip pictures' parameter set, it is the last one.
        guard let own = contents.pictureIDs.last, own != first.parameterSetID else {
            throw .keyframeWithoutParameterSets
        }
        guard let sequence = sequence(of: first), pictures[own]?.sequenceID == sequence.id else { throw .notOnePicture }
        self.sequence = sequence
        parameterSetID = own
        isDelimited = contents.isDelimited
        keyframePictureOrder = first.pictureOrder ?? 0
        restart()
    }

    static func containsIDR(_ accessUnit: [UInt8]) -> Bool {
        AnnexB.Units(accessUnit).contains {
            accessUnit[in: $0.contents].first.map { $0 & 0x1F == UnitType.idrSlice } ?? false
        }
    }

    /// Reads the parameter sets, checks every unit, and fills ``contents``.
    private mutating func read(_ accessUnit: [UInt8]) throws(RepeatRefusal) {
        contents.removeAll()
        for unit in AnnexB.Units(accessUnit) {
            let bytes = accessUnit[in: unit.contents]
            guard let header = bytes.first else { continue }
            let type = Int(clamping: header & 0x1F)
            switch type {
            case UnitType.sequence, UnitType.picture:
                guard contents.slices.isEmpty else { throw .notOnePicture }
                try readParameterSet(bytes, type: type)
                contents.parameterSetsEnd = unit.range.upperBound
            case UnitType.slice, UnitType.idrSlice:
                let header = try readSlice(bytes, type: type)
                try check(header, follows: contents.slices.last?.header)
                contents.slices.append((unit.contents, header))
            case UnitType.information: try H264Admission.admit(information: bytes)
            case UnitType.delimiter: contents.isDelimited = true
            case UnitType.filler: break
            default: throw .unitType(type)
            }
        }
    }

    private mutating func readParameterSet(
        _ unit: ArraySlice<UInt8>,
        type: Int
    ) throws(RepeatRefusal) {
        do throws(BitstreamError) {
            if type == UnitType.sequence {
                let set = try H264SequenceParameterSet(unit: unit)
                sequences[set.id] = set
                contents.sequenceIDs.append(set.id)
            } else {
                let set = try H264PictureParameterSet(unit: unit)
                pictures[set.id] = set
                contents.pictureIDs.append(set.id)
            }
        } catch {
            throw .malformed(unitType: type, error)
        }
        for set in sequences.values { try H264Admission.admit(set) }
        for set in pictures.values { try H264Admission.admit(set) }
    }

    private func readSlice(_ unit: ArraySlice<UInt8>, type: Int) throws(RepeatRefusal) -> H264SliceHeader {
        do throws(BitstreamError) {
            let header = try H264SliceHeader(unit: unit) { id in
                guard let picture = pictures[id], let sequence = sequences[picture.sequenceID] else { return nil }
                return (picture, sequence)
            }
            return header
        } catch {
            throw .malformed(unitType: type, error)
        }
    }

    /// Checks a slice, and that it belongs to the same picture as the slice before it.
    private func check(_ slice: H264SliceHeader, follows previous: H264SliceHeader?) throws(RepeatRefusal) {
        try H264Admission.admit(slice)
        guard let previous else {
            guard slice.firstMacroblock == 0 else { throw .notOnePicture }
            return
        }
        guard slice.firstMacroblock > previous.firstMacroblock, slice.isIDR == previous.isIDR,
            slice.frameNumber == previous.frameNumber, slice.pictureOrder == previous.pictureOrder,
            sequence(of: slice)?.id == sequence(of: previous)?.id
        else { throw .notOnePicture }
    }

    private func sequence(of slice: H264SliceHeader) -> H264SequenceParameterSet? {
        pictures[slice.parameterSetID].flatMap { sequences[$0.sequenceID] }
    }

    /// Advances the last picture's numbers to those of a live picture, which must be the next one.
    private mutating func advance(to slice: H264SliceHeader, _ sequence: H264SequenceParameterSet) throws(RepeatRefusal)
    {
        let width = sequence.frameNumberWidth
        let newNumber = (slice.frameNumber &+ inserted).wrapped(to: width)
        guard newNumber == (frameNumber &+ 1).wrapped(to: width) else { throw .gap }
        if let order = slice.pictureOrder {
            let period = 1 << sequence.pictureOrderWidth
            let newOrder = (order &+ Self.pictureOrderStep &* inserted).wrapped(to: sequence.pictureOrderWidth)
            let distance = (newOrder &- pictureOrder).wrapped(to: sequence.pictureOrderWidth)
            guard pictureOrder < period, distance > 0, distance < period / 2 else { throw .pictureOrder }
            pictureOrder = newOrder
        }
        frameNumber = newNumber
    }

    /// Returns the fields of a live slice, with the last picture's numbers as their values.
    private func fields(of slice: H264SliceHeader) -> [(BitField, value: Int)] {
        var fields = [(slice.frameNumberField, value: frameNumber)]
        if let field = slice.pictureOrderField { fields.append((field, value: pictureOrder)) }
        return fields
    }
}
