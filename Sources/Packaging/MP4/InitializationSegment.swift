package import Media

/// What a player of fragmented MP4 reads before the first fragment: `ftyp` and a `moov` without samples.
package struct InitializationSegment: Sendable, Equatable {
    package let bytes: [UInt8]
    /// For the parameter `codecs` of the media type (RFC 6381): `avc3.42C01F`.
    package let codecs: String
    /// Size of the shown picture in luma samples.
    package let size: PictureSize

    /// Units a second of the movie's durations.
    static let movieTimescale: UInt32 = 1000
    static let trackID: UInt32 = 1
    /// The unit matrix: 16.16 numbers, the last column 2.30.
    private static let matrix: [UInt32] = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000]
    /// `und` in three times five bits.
    private static let undeterminedLanguage: UInt16 = 0x55C4

    /// Bytes of the box that a recording's duration is written over, and of `trex`, the last box, which follows it.
    static let (reserveSize, extendsSize) = (16, 32)

    /// - Parameter reservesDuration: Whether there is room for `mehd`.
    init(_ entry: SampleEntry, reservesDuration: Bool) {
        codecs = entry.codecs
        size = entry.size
        var writer = BoxWriter(capacity: 1024)
        writer.box("ftyp") { box in
            box.put("iso6")
            box.put(UInt32(0))
            box.put("iso6mp41")
        }
        writer.box("moov") { moov in
            Self.writeMovieHeader(to: &moov)
            moov.box("trak") { track in
                Self.writeTrackHeader(entry.trackSize, to: &track)
                track.box("mdia") { Self.writeMedia(entry, to: &$0) }
            }
            moov.box("mvex") { extends in
                if reservesDuration { extends.box("free") { $0.zeros(Self.reserveSize - 8) } }
                extends.fullBox("trex") { box in
                    box.put(Self.trackID)
                    box.put(UInt32(1))  // default_sample_description_index
                    box.zeros(12)
                }
            }
        }
        bytes = writer.bytes
    }

    private static func writeMovieHeader(to writer: inout BoxWriter) {
        writer.fullBox("mvhd") { box in
            box.zeros(8)  // creation_time, modification_time: not known
            box.put(movieTimescale)
            box.put(UInt32(0))
            box.put(UInt32(0x10000))  // rate 1.0
            box.put(UInt16(0x100))  // volume 1.0
            box.zeros(10)
            for number in matrix { box.put(number) }
            box.zeros(24)
            box.put(trackID + 1)  // next_track_ID
        }
    }

    private static func writeTrackHeader(_ size: (width: UInt32, height: UInt32), to writer: inout BoxWriter) {
        // Flags: enabled, in the movie.
        writer.fullBox("tkhd", flags: 3) { box in
            box.zeros(8)
            box.put(trackID)
            box.zeros(4)
            box.put(UInt32(0))  // duration
            box.zeros(16)
            for number in matrix { box.put(number) }
            box.put(size.width)
            box.put(size.height)
        }
    }

    private static func writeMedia(_ entry: SampleEntry, to writer: inout BoxWriter) {
        writer.fullBox("mdhd") { box in
            box.zeros(8)
            box.put(FragmentedMP4.timescale)
            box.put(UInt32(0))
            box.put(undeterminedLanguage)
            box.zeros(2)
        }
        writer.fullBox("hdlr") { box in
            box.zeros(4)
            box.put("vide")
            box.zeros(12 + 1)  // reserved, and an empty name
        }
        writer.box("minf") { information in
            information.fullBox("vmhd", flags: 1) { $0.zeros(8) }
            information.box("dinf") { data in
                data.fullBox("dref") { references in
                    references.put(UInt32(1))
                    // Flag: the media is in this file.
                    references.fullBox("url ", flags: 1) { _ in }
                }
            }
            information.box("stbl") { table in
                table.fullBox("stsd") { descriptions in
                    descriptions.put(UInt32(1))
                    entry.write(to: &descriptions)
                }
                // No samples here.
                table.fullBox("stts") { $0.zeros(4) }
                table.fullBox("stsc") { $0.zeros(4) }
                table.fullBox("stsz") { $0.zeros(8) }
                table.fullBox("stco") { $0.zeros(4) }
            }
        }
    }
}
