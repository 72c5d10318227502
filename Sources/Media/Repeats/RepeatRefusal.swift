/// The reason why a stream's pictures cannot be repeated without its encoder.
package enum RepeatRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    case interlaced
    case separateColourPlanes
    /// `max_num_ref_frames`.
    case referenceFrames(Int)
    case severalActiveReferences
    /// The picture order counts cannot be raised by rewriting one field.
    case pictureOrder
    /// HRD parameters, picture timing, or messages that count pictures.
    case timing
    case sliceGroups
    case redundantPictures
    /// The `nal_unit_type` of a unit that cannot be in a repeatable stream.
    case unitType(Int)
    case bidirectional
    case switching
    case nonReferencePicture
    case listModification
    case longTermReference
    case memoryOperations
    /// A live picture does not follow the one before it.
    case gap
    case notOnePicture
    case keyframeWithoutParameterSets
    case noFreeParameterSetID
    /// Pictures may be decoded without being shown.
    case hiddenPictures
    /// H.265: `slice_temporal_mvp_enabled_flag`.
    case temporalMotion
    /// H.265: the reference picture set names other pictures than the last two.
    case referencePictureSet
    /// H.265: several layers or temporal sub-layers, or an extension for them or for screen content.
    case layersOrExtensions
    /// A unit of this `nal_unit_type` cannot be read.
    case malformed(unitType: Int, BitstreamError)

    /// The reason as a sentence for the status.
    package var description: String { "Repeats are encoded again because the stream \(reason)." }

    private var reason: String {
        switch self {
        case .interlaced: "is interlaced"
        case .separateColourPlanes: "codes its colour planes separately"
        case .referenceFrames(let count): "keeps \(count) reference frames instead of one"
        case .severalActiveReferences: "predicts one picture from several"
        case .pictureOrder: "orders its pictures in a way that cannot be shifted"
        case .timing: "carries HRD parameters, picture timing or messages that count pictures"
        case .sliceGroups: "uses slice groups"
        case .redundantPictures: "has redundant pictures"
        case .unitType(let type): "has NAL units of type \(type)"
        case .bidirectional: "has B slices"
        case .switching: "has switching slices"
        case .nonReferencePicture: "has non-reference pictures"
        case .listModification: "modifies reference lists"
        case .longTermReference: "uses long-term references"
        case .memoryOperations: "manages its reference pictures by explicit operations"
        case .gap: "leaves out a picture number"
        case .notOnePicture: "does not have one whole picture in each access unit"
        case .keyframeWithoutParameterSets: "has a keyframe without parameter sets"
        case .noFreeParameterSetID: "uses every picture parameter set id"
        case .hiddenPictures: "can hide pictures"
        case .temporalMotion: "predicts motion from earlier pictures"
        case .referencePictureSet: "holds other reference pictures than the last two"
        case .layersOrExtensions: "has layers or extensions"
        case .malformed(let type, let error): "has a NAL unit of type \(type) that cannot be read (\(error))"
        }
    }
}
