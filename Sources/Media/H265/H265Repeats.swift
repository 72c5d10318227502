/// Repeats in an H.265 stream. Each inserted picture raises the later pictures' `slice_pic_order_cnt_lsb`.
struct H265Repeats: RepeatCoding {
    /// `nal_unit_type` (table 7-1).
    private enum UnitType {
        static let trailing = 1, idr = 19...20
        static let video = 32, sequence = 33, picture = 34, delimiter = 35, filler = 38
        static let information = 39...40
    }

    /// An access unit delimiter that allows P and I slices (7.3.2.5), for streams that have delimiters.
    private static let delimiter: [UInt8] = [0, 0, 0, 1, 0x46, 0x01, 0x30]

    private(set) var inserted = 0
    /// The contents of the access unit that was read last.
    private var contents = AccessUnitContents<H265SliceHeader>()
    private var sequences: [Int: H265SequenceParameterSet] = [:]
    private var pictures: [Int: H265PictureParameterSet] = [:]
    /// The sequence parameter set of the last picture, and the slice data of its skip pictures, created when first
    /// needed.
    private var sequence: H265SequenceParameterSet?
    private var skipData: [UInt8]?
    /// The id of the parameter set for skip pictures.
    private var parameterSetID = 0
    /// `slice_pic_order_cnt_lsb` of the last picture as sent.
    private var pictureOrder = 0
    private var isDelimited = false

    mutating func accept(_ accessUnit: [UInt8]) throws(RepeatRefusal) -> AcceptedPicture {
        try read(accessUnit)
        guard let first = contents.slices.first?.header, let slice = first.slice, let sequence = sequence(of: first)
        else { throw .notOnePicture }
        var edit = AccessUnitEdit()
        if let place = contents.parameterSetsEnd {
            guard let free = (0...63).last(where: { pictures[$0] == nil }) else { throw .noFreeParameterSetID }
            parameterSetID = free
            edit.insertion = (place, H265SkipPicture.parameterSet(id: free, sequenceID: sequence.id))
        }
        if self.sequence != sequence { (self.sequence, skipData) = (sequence, nil) }
        isDelimited = contents.isDelimited
        if first.isIDR {
            guard contents.pictureIDs.contains(first.parameterSetID), contents.sequenceIDs.contains(sequence.id) else {
                throw .keyframeWithoutParameterSets
            }
            restart()
        } else {
            let width = sequence.pictureOrderWidth
            let next = (pictureOrder &+ 1).wrapped(to: width)
            guard (slice.pictureOrder &+ inserted).wrapped(to: width) == next else { throw .gap }
            pictureOrder = next
            if inserted > 0 {
                edit.slices = contents.slices.compactMap { unit, header in
                    header.slice?.pictureOrderField.map { (unit, [($0, value: next)]) }
                }
            }
        }
        let isPredicted = contents.slices.contains { $0.header.slice?.kind == .p }
        return AcceptedPicture(isIDR: first.isIDR, isPredicted: isPredicted, edit: edit)
    }

    mutating func skip() -> [UInt8]? {
        guard let sequence else { return nil }
        let data = skipData ?? H265SkipPicture.data(for: sequence)
        skipData = data
        advance(by: 1)
        let slice = H265SkipPicture.slice(
            parameterSetID: parameterSetID,
            sequence: sequence,
            pictureOrder: pictureOrder,
            data: data
        )
        return isDelimited ? Self.delimiter + slice : slice
    }

    mutating func restart() {
        (inserted, pictureOrder) = (0, 0)
    }

    mutating func advance(by count: Int) {
        guard let sequence else { return }
        inserted &+= count
        pictureOrder = (pictureOrder &+ count).wrapped(to: sequence.pictureOrderWidth)
    }

    mutating func resume(at keyframe: [UInt8]) throws(RepeatRefusal) {
        try read(keyframe)
        guard let first = contents.slices.first?.header, first.isIDR else { throw .notOnePicture }
        // If the access unit already has the skip pictures' parameter set, it is the last one.
        guard let own = contents.pictureIDs.last, own != first.parameterSetID else {
            throw .keyframeWithoutParameterSets
        }
        guard let sequence = sequence(of: first), pictures[own]?.sequenceID == sequence.id else { throw .notOnePicture }
        (self.sequence, skipData) = (sequence, nil)
        parameterSetID = own
        isDelimited = contents.isDelimited
        restart()
    }

    static func containsIDR(_ accessUnit: [UInt8]) -> Bool {
        AnnexB.Units(accessUnit).contains {
            accessUnit[in: $0.contents].first.map { UnitType.idr.contains(Int(clamping: $0 >> 1 & 0x3F)) } ?? false
        }
    }

    /// Reads the parameter sets, checks every unit, and fills ``contents``.
    private mutating func read(_ accessUnit: [UInt8]) throws(RepeatRefusal) {
        contents.removeAll()
        for unit in AnnexB.Units(accessUnit) {
            let bytes = accessUnit[in: unit.contents]
            guard let header = bytes.first else { continue }
            let type = Int(clamping: header >> 1 & 0x3F)
            guard let layer = bytes[at: bytes.startIndex &+ 1] else { throw .malformed(unitType: type, .endOfUnit) }
            // nuh_layer_id 0 and TemporalId 0.
            guard header & 1 == 0, layer == 1 else { throw .layersOrExtensions }
            switch type {
            case UnitType.video, UnitType.sequence, UnitType.picture:
                guard contents.slices.isEmpty else { throw .notOnePicture }
                try readParameterSet(bytes, type: type)
                contents.parameterSetsEnd = unit.range.upperBound
            case UnitType.trailing, UnitType.idr:
                let header = try readSegment(bytes, type: type)
                try check(header, first: contents.slices.first?.header, previous: contents.slices.last?.header)
                contents.slices.append((unit.contents, header))
            case UnitType.information: try H265Admission.admit(information: bytes)
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
        var video: H265VideoParameterSet?
        do throws(BitstreamError) {
            switch type {
            case UnitType.video: video = try H265VideoParameterSet(unit: unit)
            case UnitType.sequence:
                let set = try H265SequenceParameterSet(unit: unit)
                sequences[set.id] = set
                contents.sequenceIDs.append(set.id)
            default:
                let set = try H265PictureParameterSet(unit: unit)
                pictures[set.id] = set
                contents.pictureIDs.append(set.id)
            }
        } catch {
            throw .malformed(unitType: type, error)
        }
        if let video { try H265Admission.admit(video) }
        for set in sequences.values { try H265Admission.admit(set) }
        for set in pictures.values { try H265Admission.admit(set) }
    }

    private func readSegment(_ unit: ArraySlice<UInt8>, type: Int) throws(RepeatRefusal) -> H265SliceHeader {
        do throws(BitstreamError) {
            let header = try H265SliceHeader(unit: unit) { id in
                guard let picture = pictures[id], let sequence = sequences[picture.sequenceID] else { return nil }
                return (picture, sequence)
            }
            return header
        } catch {
            throw .malformed(unitType: type, error)
        }
    }

    /// Checks a slice segment, and that it belongs to the same picture as the segments before it.
    private func check(
        _ header: H265SliceHeader,
        first: H265SliceHeader?,
        previous: H265SliceHeader?
    ) throws(RepeatRefusal) {
        if let slice = header.slice { try H265Admission.admit(slice) }
        guard let first, let previous else {
            guard header.isFirst else { throw .notOnePicture }
            return
        }
        // Every segment of a picture names the same parameter set (7.4.7.1).
        guard !header.isFirst, header.address > previous.address, header.isIDR == first.isIDR,
            header.parameterSetID == first.parameterSetID,
            header.slice == nil || header.slice?.pictureOrder == first.slice?.pictureOrder
        else { throw .notOnePicture }
    }

    private func sequence(of header: H265SliceHeader) -> H265SequenceParameterSet? {
        pictures[header.parameterSetID].flatMap { sequences[$0.sequenceID] }
    }
}
