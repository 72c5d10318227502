import Media

/// The parameter sets of a keyframe: NAL units without start codes, each once and in stream order.
///
/// Each set is compared with the earlier ones, and a hostile keyframe may have millions. So the list has a limit that
/// no real stream reaches.
struct ParameterSetList: Equatable {
    private(set) var video: [[UInt8]] = []
    private(set) var sequence: [[UInt8]] = []
    private(set) var picture: [[UInt8]] = []
    /// The number of the keyframe's parameter sets and of their bytes, including repeated ones.
    private var (count, byteCount) = (0, 0)

    /// The most parameter sets of a keyframe: H.264 has ids for 32 and 256, H.265 for fewer.
    private static let most = 288
    /// The most bytes of all sets. The longest sets, with their own scaling lists, have a few hundred.
    private static let mostBytes = 128 << 10

    /// Whether the keyframe has more parameter sets than the list accepts.
    var isTooLong: Bool { count > Self.most || byteCount > Self.mostBytes }

    static func == (one: Self, other: Self) -> Bool {
        one.video == other.video && one.sequence == other.sequence && one.picture == other.picture
            && one.isTooLong == other.isTooLong
    }

    /// Appends `unit` if it is a parameter set and not in the list yet.
    mutating func append(_ unit: ArraySlice<UInt8>, kind: NALUnitKind) {
        guard kind.isParameterSet, !isTooLong else { return }
        (count, byteCount) = (count &+ 1, byteCount &+ unit.count)
        guard !isTooLong, !contains(unit, kind: kind) else { return }
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
