import Media

/// The parameter sets of a keyframe, NAL units without start codes, each once and in stream order.
///
/// Each set is compared with those before it, and a hostile keyframe may have millions. So the list ends where it is too long for any stream.
struct ParameterSetList: Equatable {
    private(set) var video: [[UInt8]] = []
    private(set) var sequence: [[UInt8]] = []
    private(set) var picture: [[UInt8]] = []
    /// Parameter sets of the keyframe and their bytes, repeated ones included.
    private var (count, byteCount) = (0, 0)

    /// Most parameter sets of a keyframe: H.264 has ids for 32 and 256, H.265 for fewer.
    private static let most = 288
    /// Most bytes of them. The longest sets, with scaling lists of their own, have some hundreds.
    private static let mostBytes = 128 << 10

    /// Whether the keyframe has more parameter sets than the list takes.
    var isTooLong: Bool { count > Self.most || byteCount > Self.mostBytes }

    static func == (one: Self, other: Self) -> Bool {
        one.video == other.video && one.sequence == other.sequence && one.picture == other.picture
            && one.isTooLong == other.isTooLong
    }

    /// Appends `unit`, unless it is there already or is no parameter set.
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
