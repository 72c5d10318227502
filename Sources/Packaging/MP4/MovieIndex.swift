package import Media

/// The tracks and samples of a recording, and what the recorder noted in it.
package struct MovieIndex: Sendable, Equatable {
    package struct Track: Sendable, Equatable {
        package let description: TrackDescription
        package internal(set) var samples = SampleTable()
    }

    /// The tracks; the first one is video.
    package internal(set) var tracks: [Track]
    /// The recorder's notes, in order: the first one is of the file's beginning.
    package internal(set) var notes: [[UInt8]] = []
    /// When the movie ends, in µs from its beginning. The last picture lasts until then.
    package internal(set) var end: UInt64 = 0

    /// The time of the last sample of any track, in µs.
    package var lastTime: UInt64 {
        tracks.map { track in
            track.samples.times.last.map { MovieHeader.duration($0, of: track.description.timescale) } ?? 0
        }.max() ?? 0
    }

    package var video: Track? { tracks.first { $0.description.kind == .video } }

    /// Returns the track of sound in a codec.
    package func sound(in codec: SoundCodec) -> Track? { tracks.first { $0.description.soundCodec == codec } }

    /// Returns `moov`, which makes a complete movie of the samples where they are.
    package func movie() -> [UInt8] { movie(edits: []) }

    /// - Parameter edits: One for each track; empty for none but the delays of tracks that begin later.
    func movie(edits: [EditList]) -> [UInt8] {
        var writer = BoxWriter(capacity: tracks.reduce(4096) { $0 &+ 32 &* $1.samples.count })
        writer.box("moov") { moov in
            MovieHeader.write(
                duration: edits.map(\.end).max() ?? end,
                nextTrack: (tracks.map(\.description.id).max() ?? 0) &+ 1,
                to: &moov
            )
            let written = tracks.enumerated().filter { !$0.element.samples.isEmpty }
            let alternatives = TrackDescription.alternatives(among: written.map(\.element.description))
            for ((place, track), alternative) in zip(written, alternatives) {
                track.description.write(
                    track.samples,
                    end: end(of: track),
                    edit: edits[at: place] ?? delay(of: track),
                    alternative: alternative,
                    to: &moov
                )
            }
            for note in notes { MovieNote.write(note, to: &moov) }
        }
        return writer.bytes
    }

    /// When a track's last sample ends, in its time scale.
    ///
    /// A picture lasts until the movie ends, a packet as long as the shortest one. Before a silence, one seems longer.
    private func end(of track: Track) -> UInt64 {
        let times = track.samples.times
        guard let last = times.last else { return 0 }
        switch track.description.kind {
        case .video:
            return max(MovieHeader.ticks(end, of: track.description.timescale), last &+ 1)
        case .audio:
            return last &+ (zip(times.dropFirst(), times).map { $0 &- $1 }.min() ?? 1)
        }
    }

    /// A track that begins after the movie does is delayed, because the times of its samples count from its first one.
    private func delay(of track: Track) -> EditList? {
        let first = track.samples.times.first ?? 0
        guard first > 0 else { return nil }
        let scale = track.description.timescale
        return EditList(
            delay: MovieHeader.duration(first, of: scale),
            mediaTime: 0,
            duration: MovieHeader.duration(end(of: track) &- first, of: scale)
        )
    }
}
