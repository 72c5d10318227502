import Media

/// The parameter sets of a keyframe, NAL units without start codes, each once and in stream order.
struct ParameterSetList: Equatable {
    private(set) var video: [[UInt8]] = []
    private(set) var sequence: [[UInt8]] = []
    private(set) var picture: [[UInt8]] = []

    /// Appends `unit`, unless it is there already or is no parameter set.
    mutating func append(_ unit: ArraySlice<UInt8>, kind: NALUnitKind) {
        guard !contains(unit, kind: kind) else { return }
        switch kind {
        case .videoParameterSet: video.append(Array(unit))
        case .sequenceParameterSet: sequence.append(Array(unit))
        case .pictureParameterSet: picture.append(Array(unit))
        case .delimiter, .slice, .other: break
        }
    }

    func contains(_ unit: ArraySlice<UInt8>, kind: NALUnitKind) -> Bool {
        let sets =
            switch kind {
            case .videoParameterSet: video
            case .sequenceParameterSet: sequence
            case .pictureParameterSet: picture
            case .delimiter, .slice, .other: [[UInt8]]()
            }
        return sets.contains { $0[...] == unit }
    }
}
