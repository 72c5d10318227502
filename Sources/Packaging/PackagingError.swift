package import Media

/// The reason why a unit cannot be packaged. The packager is unchanged and can continue, unless the case says
/// otherwise.
package enum PackagingError: Error, Equatable, Sendable {
    /// The access unit has no slice, or is not an Annex B stream.
    case noPicture
    /// The unit's track does not belong to the container.
    case unknownTrack
    /// The unit is not a packet of its track's codec.
    case noPacket
    /// The unit's time is before the origin of the timeline, or in a recording not after the track's last one.
    case beforeOrigin
    /// No keyframe came before the unit, or the last keyframe could not be packaged.
    case noKeyframe
    /// The keyframe lacks a kind of parameter set that its codec needs. Only a keyframe can follow.
    case noParameterSets
    /// The keyframe's sequence parameter set cannot be read. Only a keyframe can follow.
    case damagedParameterSet(BitstreamError)
    /// A parameter set, the number of sets, or the unit exceeds the format's limits, or a picture has too many NAL
    /// units. Of pictures, only a keyframe can follow.
    case tooLarge
    /// A picture other than a keyframe changes parameter sets that the format stores outside pictures. Only a keyframe
    /// can follow.
    case lateParameterSet
}
