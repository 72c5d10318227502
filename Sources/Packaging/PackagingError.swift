package import Media

/// Why an access unit cannot be packaged. The packager is left as it was and can go on, unless the error says otherwise.
package enum PackagingError: Error, Equatable, Sendable {
    /// It has no slice, or is no Annex B stream.
    case noPicture
    /// Its track is none of the container's.
    case unknownTrack
    /// It is no packet of its track's codec.
    case noPacket
    /// Its time lies before the origin of the timeline.
    case beforeOrigin
    /// No keyframe came before it, or the last one could not be packaged.
    case noKeyframe
    /// A keyframe without a set of each kind that its codec needs. Only a keyframe can follow.
    case noParameterSets
    /// A keyframe whose sequence parameter set cannot be read. Only a keyframe can follow.
    case damagedParameterSet(BitstreamError)
    /// A parameter set, their number, or the picture is larger than the format can tell, or the picture has too many NAL units. Only a keyframe can follow.
    case tooLarge
    /// A picture other than a keyframe changes parameter sets that the format keeps outside pictures. Only a keyframe can follow.
    case lateParameterSet
}
