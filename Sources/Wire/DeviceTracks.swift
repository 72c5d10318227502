package import Media

/// The tracks that all sessions of a device share, which are its sound. Their units are sent with session 0.
package struct DeviceTracks: Sendable, Equatable, Codable {
    package struct Track: Sendable, Equatable, Codable {
        package enum Codec: String, Sendable, Codable {
            case opus
        }

        /// The track's id, at least 1: 0 is a session's video.
        package var id: MediaTrack.ID
        package var codec: Codec
        /// The number of channels, 1 or 2.
        package var channels: UInt8
        /// The number of samples at the start that a player must discard, at 48 kHz.
        package var preSkip: UInt16
    }

    /// The most tracks of a device.
    private static let most = 8

    package var tracks: [Track]
    /// Why sound cannot be captured now, for people; absent if it can.
    package var problem: String?
    /// Whether sound is captured now; absent means no.
    package var captures: Bool?

    package init(_ tracks: [MediaTrack], problem: String? = nil, captures: Bool? = nil) {
        (self.problem, self.captures) = (problem, captures)
        self.tracks = tracks.compactMap { track in
            switch track.coding {
            case .video: nil
            case .opus(let parameters):
                Track(id: track.id, codec: .opus, channels: parameters.channels, preSkip: parameters.preSkip)
            }
        }
    }

    /// The valid tracks, each id once.
    package var sound: [MediaTrack] {
        var ids: Set<MediaTrack.ID> = [MediaTrack.videoID]
        return tracks.prefix(Self.most).compactMap { track in
            guard let parameters = OpusParameters(channels: track.channels, preSkip: track.preSkip),
                ids.insert(track.id).inserted
            else { return nil }
            return MediaTrack(id: track.id, coding: .opus(parameters))
        }
    }
}
