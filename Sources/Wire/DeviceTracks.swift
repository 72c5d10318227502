package import Media

/// The tracks that all sessions of a device share, which are its sound. Their units are sent with session 0.
package struct DeviceTracks: Sendable, Equatable, Codable {
    package struct Track: Sendable, Equatable, Codable {
        /// The track's id, at least 1: 0 is a session's video.
        package var id: MediaTrack.ID
        /// A word of ``SoundCodec``, or of a later release.
        package var codec: String
        /// The number of channels, 1 or 2.
        package var channels: UInt8
        /// The number of samples at the start that a player must discard, at 48 kHz; 0 except for Opus.
        package var preSkip: UInt16
    }

    /// The most tracks of a device.
    private static let most = 8

    package var tracks: [Track]
    /// Why sound cannot be captured now, for people; absent if it can.
    package var problem: String?
    /// Whether sound is captured now; absent means no.
    package var captures: Bool?
    /// Whether the agent can encode AAC; absent if nobody has asked for it yet.
    package var encodesAAC: Bool?
    /// Why the agent cannot encode AAC, for people.
    package var aacProblem: String?

    package init(_ tracks: [MediaTrack], problem: String? = nil, captures: Bool? = nil) {
        (self.problem, self.captures) = (problem, captures)
        self.tracks = tracks.compactMap { track in
            switch track.coding {
            case .video: nil
            case .opus(let parameters):
                Track(
                    id: track.id,
                    codec: SoundCodec.opus.rawValue,
                    channels: parameters.channels,
                    preSkip: parameters.preSkip
                )
            case .aac(let parameters):
                Track(id: track.id, codec: SoundCodec.aac.rawValue, channels: parameters.channels, preSkip: 0)
            }
        }
    }

    /// The valid tracks of known codecs, each id once.
    package var sound: [MediaTrack] {
        var ids: Set<MediaTrack.ID> = [MediaTrack.videoID]
        return tracks.prefix(Self.most).compactMap { track in
            guard let coding = track.coding, ids.insert(track.id).inserted else { return nil }
            return MediaTrack(id: track.id, coding: coding)
        }
    }
}

extension DeviceTracks.Track {
    fileprivate var coding: MediaTrack.Coding? {
        switch SoundCodec(rawValue: codec) {
        case .opus: OpusParameters(channels: channels, preSkip: preSkip).map { .opus($0) }
        case .aac: AACParameters(channels: channels).map { .aac($0) }
        case nil: nil
        }
    }
}
