package import Media

/// What a player of fragmented MP4 needs before the first fragment: `ftyp`, and a `moov` without samples.
package struct InitializationSegment: Sendable, Equatable {
    package let bytes: [UInt8]
    /// The `codecs` parameter of the media type (RFC 6381): `avc3.42C01F`.
    package let codecs: String
    /// The size of the displayed picture, in luma samples.
    package let size: PictureSize

    /// Units per second of the movie's durations.
    static let movieTimescale: UInt32 = 1000
    /// The unit matrix: 16.16 numbers, the last column 2.30.
    private static let matrix: [UInt32] = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000]
    /// `und` as three times five bits.
    private static let undeterminedLanguage: UInt16 = 0x55C4

    /// The size in bytes of the box that a recording's duration overwrites, and of `trex`, the last box, which follows
    /// it.
    static let (reserveSize, extendsSize) = (16, 32)

    /// - Parameters:
    ///   - entry: The sample entry of the video track.
    ///   - reservesDuration: Whether to reserve space for `mehd`.
    init(_ entry: VideoSampleEntry, tracks: [MediaTrack], reservesDuration: Bool) {
        codecs = ([entry.codecs] + tracks.compactMap(\.coding.audioCodecString)).joined(separator: ",")
        size = entry.size
        var writer = BoxWriter(capacity: 1024)
        writer.box("ftyp") { box in
            box.put("iso6")
            box.put(UInt32(0))
            box.put("iso6mp41")
        }
        writer.box("moov") { moov in
            Self.writeMovieHeader(nextTrack: (tracks.map(Self.trackID).max() ?? 0) + 1, to: &moov)
            for track in tracks { Self.write(track, entry, to: &moov) }
            moov.box("mvex") { extends in
                if reservesDuration { extends.box("free") { $0.zeros(Self.reserveSize - 8) } }
                for track in tracks {
                    extends.fullBox("trex") { box in
                        box.put(Self.trackID(of: track))
                        box.put(UInt32(1))  // default_sample_description_index
                        box.zeros(12)
                    }
                }
            }
        }
        bytes = writer.bytes
    }

    /// `track_ID`, which is not 0.
    static func trackID(of track: MediaTrack) -> UInt32 { UInt32(clamping: track.id) + 1 }

    private static func writeMovieHeader(nextTrack: UInt32, to writer: inout BoxWriter) {
        writer.fullBox("mvhd") { box in
            box.zeros(8)  // creation_time, modification_time: not known
            box.put(movieTimescale)
            box.put(UInt32(0))
            box.put(UInt32(0x10000))  // rate 1.0
            box.put(UInt16(0x100))  // volume 1.0
            box.zeros(10)
            for number in matrix { box.put(number) }
            box.zeros(24)
            box.put(nextTrack)  // next_track_ID
        }
    }

    private static func write(_ track: MediaTrack, _ entry: VideoSampleEntry, to writer: inout BoxWriter) {
        writer.box("trak") { box in
            writeTrackHeader(track, size: track.kind == .video ? entry.trackSize : (0, 0), to: &box)
            box.box("mdia") { media in
                writeMediaHeader(track, to: &media)
                media.box("minf") { information in
                    switch track.kind {
                    case .video: information.fullBox("vmhd", flags: 1) { $0.zeros(8) }
                    case .audio: information.fullBox("smhd") { $0.zeros(4) }
                    }
                    writeDataInformation(to: &information)
                    information.box("stbl") { table in
                        table.fullBox("stsd") { descriptions in
                            descriptions.put(UInt32(1))
                            switch track.coding {
                            case .video: entry.write(to: &descriptions)
                            case .opus(let parameters): OpusSampleEntry.write(parameters, to: &descriptions)
                            case .aac(let parameters): AACSampleEntry.write(parameters, to: &descriptions)
                            }
                        }
                        // There are no samples here.
                        table.fullBox("stts") { $0.zeros(4) }
                        table.fullBox("stsc") { $0.zeros(4) }
                        table.fullBox("stsz") { $0.zeros(8) }
                        table.fullBox("stco") { $0.zeros(4) }
                    }
                }
            }
        }
    }

    private static func writeTrackHeader(
        _ track: MediaTrack,
        size: (width: UInt32, height: UInt32),
        to writer: inout BoxWriter
    ) {
        // Flags: enabled, in the movie.
        writer.fullBox("tkhd", flags: 3) { box in
            box.zeros(8)
            box.put(trackID(of: track))
            box.zeros(4)
            box.put(UInt32(0))  // duration
            box.zeros(12)
            box.put(track.kind == .audio ? UInt16(0x100) : 0)  // volume 1.0
            box.zeros(2)
            for number in matrix { box.put(number) }
            box.put(size.width)
            box.put(size.height)
        }
    }

    private static func writeMediaHeader(_ track: MediaTrack, to writer: inout BoxWriter) {
        writer.fullBox("mdhd") { box in
            box.zeros(8)
            box.put(track.timescale)
            box.put(UInt32(0))
            box.put(undeterminedLanguage)
            box.zeros(2)
        }
        writer.fullBox("hdlr") { box in
            box.zeros(4)
            box.put(track.kind == .video ? "vide" : "soun")
            box.zeros(12 + 1)  // reserved, and an empty name
        }
    }

    private static func writeDataInformation(to writer: inout BoxWriter) {
        writer.box("dinf") { data in
            data.fullBox("dref") { references in
                references.put(UInt32(1))
                // Flag: the media is in this file.
                references.fullBox("url ", flags: 1) { _ in }
            }
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
