package import Media

/// The codecs of the sound in recordings.
package enum RecordedSound: String, Sendable, CaseIterable {
    case opus, aac, both

    private var codecs: Set<SoundCodec> {
        switch self {
        case .opus: [.opus]
        case .aac: [.aac]
        case .both: [.opus, .aac]
        }
    }

    /// Returns the tracks of a stream that are recorded: the pictures, and the sound in these codecs; in another one if
    /// it has none of these.
    package func tracks(of tracks: [MediaTrack]) -> [MediaTrack] {
        let codecs = self.codecs(of: tracks)
        return tracks.filter { $0.soundCodec.map(codecs.contains) ?? true }
    }

    /// Returns the codecs of the sound that is recorded of a stream.
    package func codecs(of tracks: [MediaTrack]) -> Set<SoundCodec> {
        let offered = Set(tracks.compactMap(\.soundCodec))
        // A stream may get its sound later.
        return offered.isDisjoint(with: codecs) && !offered.isEmpty ? offered : codecs
    }
}
