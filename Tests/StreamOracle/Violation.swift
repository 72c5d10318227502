/// A rule of H.264 or H.265, or a promise to viewers, that a picture breaks.
package enum Violation: Sendable, Equatable, CustomStringConvertible {
    /// The access unit does not hold exactly one picture.
    case notOnePicture
    /// A NAL unit of this type has no place in such a stream.
    case unitType(Int)
    /// A NAL unit of this type cannot be read.
    case malformed(unitType: Int)
    /// The syntax is legal, but no encoder here should use it.
    case unexpected(String)
    case startsWithoutKeyframe
    /// A slice names a parameter set that has not come.
    case missingParameterSet
    /// A keyframe does not bring the parameter sets that it uses, so that no viewer can start there.
    case keyframeWithoutParameterSets
    /// The sequence parameter set changes although no keyframe starts a new sequence.
    case sequenceChanges
    case keyframeNumber(Int)
    /// `frame_num` does not follow that of the picture before.
    case frameNumber(Int, expected: Int)
    /// `idr_pic_id` is that of the keyframe directly before.
    case keyframeID(Int)
    /// The picture order count is not above that of the picture before.
    case pictureOrder(Int, after: Int)
    /// H.265: the picture order count does not follow that of the picture before.
    case pictureOrderGap(Int, expected: Int)
    /// The picture may refer to more pictures than this viewer's decoder holds.
    case missingReference
    /// H.265: the picture before is not among those that the decoder is told to keep.
    case previousPictureNotKept

    package var description: String {
        switch self {
        case .notOnePicture: "The access unit does not hold exactly one picture."
        case .unitType(let type): "There is a NAL unit of type \(type)."
        case .malformed(let type): "A NAL unit of type \(type) cannot be read."
        case .unexpected(let what): "The stream uses \(what)."
        case .startsWithoutKeyframe: "The stream does not begin with a keyframe."
        case .missingParameterSet: "A slice names a parameter set that has not come."
        case .keyframeWithoutParameterSets: "A keyframe comes without the parameter sets that it uses."
        case .sequenceChanges: "The sequence parameter set changes without a keyframe."
        case .keyframeNumber(let number): "A keyframe has frame_num \(number) instead of 0."
        case .frameNumber(let number, let expected): "frame_num is \(number) instead of \(expected)."
        case .keyframeID(let id): "Two keyframes in a row have idr_pic_id \(id)."
        case .pictureOrder(let count, let last): "The picture order count \(count) follows \(last)."
        case .pictureOrderGap(let count, let expected): "The picture order count is \(count) instead of \(expected)."
        case .missingReference: "The picture refers to one that this viewer does not have."
        case .previousPictureNotKept: "The reference picture set does not name the previous picture."
        }
    }
}
