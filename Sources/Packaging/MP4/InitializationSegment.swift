package import Media

/// What a player of fragmented MP4 needs before the first fragment: `ftyp`, and a `moov` without samples.
package struct InitializationSegment: Sendable, Equatable {
    package let bytes: [UInt8]
    /// The `codecs` parameter of the media type (RFC 6381): `avc3.42C01F`.
    package let codecs: String
    /// The size of the displayed picture, in luma samples.
    package let size: PictureSize

    /// The size in bytes of `mehd`, for which a recording reserves the place, and of `trex`, of which each track has
    /// one after it. They are the last boxes.
    static let (reserveSize, extendsSize) = (20, 32)

    /// - Parameters:
    ///   - entry: The sample entry of the video track.
    ///   - note: What a recording says of itself; `nil` for a live stream, whose duration nothing tells later.
    init(_ entry: VideoSampleEntry, tracks: [MediaTrack], note: [UInt8]? = nil) {
        codecs = ([entry.codecs] + tracks.compactMap(\.coding.audioCodecString)).joined(separator: ",")
        size = entry.size
        bytes = Self.bytes(of: tracks.map { TrackDescription($0, entry) }, note: note)
    }

    /// - Parameter note: As above.
    static func bytes(of tracks: [TrackDescription], note: [UInt8]?) -> [UInt8] {
        var writer = BoxWriter(capacity: 1024)
        writer.fileType()
        writer.box("moov") { moov in
            MovieHeader.write(duration: 0, nextTrack: (tracks.map(\.id).max() ?? 0) &+ 1, to: &moov)
            for (track, alternative) in zip(tracks, TrackDescription.alternatives(among: tracks)) {
                track.write(SampleTable(), end: 0, edit: nil, alternative: alternative, to: &moov)
            }
            if let note { MovieNote.write(note, to: &moov) }
            moov.box("mvex") { extends in
                if note != nil { extends.box("free") { $0.zeros(reserveSize - 8) } }
                for track in tracks {
                    extends.fullBox("trex") { box in
                        box.put(track.id)
                        box.put(UInt32(1))  // default_sample_description_index
                        box.zeros(12)
                    }
                }
            }
        }
        return writer.bytes
    }
}

extension BoxWriter {
    /// Writes `ftyp`.
    mutating func fileType() {
        box("ftyp") { box in
            box.put("iso6")
            box.put(UInt32(0))
            box.put("iso6mp41")
        }
    }
}

extension MediaTrack.Coding {
    /// The `codecs` parameter of the media type (RFC 6381); `nil` for video, whose string depends on its parameter
    /// sets.
    fileprivate var audioCodecString: String? {
        switch self {
        case .video: nil
        case .opus: "opus"
        case .aac: "mp4a.40.2"
        }
    }
}
