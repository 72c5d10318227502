import Media

/// What a fragment says of one of its samples.
protocol FragmentSample {
    /// `track_ID`.
    var trackID: UInt32 { get }
    /// In the track's time scale.
    var time: UInt64 { get }
    var duration: UInt32 { get }
    /// In bytes.
    var size: UInt32 { get }
    /// Whether decoding can begin with it.
    var isSync: Bool { get }
}

/// The beginning of a fragment: `moof` and the header of `mdat` (ISO/IEC 14496-12, 8.8).
enum FragmentHead {
    /// The sizes in bytes of `moof` with its `mfhd`, of a `traf` without samples, of a sample in it, and of the header
    /// of `mdat`.
    private static let (emptyMovieFragmentSize, emptyTrackFragmentSize) = (24, 64)
    private static let (sampleEntrySize, dataHeaderSize) = (12, 8)
    /// The size in bytes with one sample.
    static let sizeOfOne = emptyMovieFragmentSize + emptyTrackFragmentSize + sampleEntrySize + dataHeaderSize
    /// The offset of the decode time with one run: eight bytes, highest first.
    static let decodeTimeOffset = 60
    /// The most bytes of all samples: a box has 32 bits for its size.
    static let mostBytes = Int(UInt32.max) - dataHeaderSize

    /// - Parameters:
    ///   - sequence: `sequence_number`.
    ///   - runs: The samples of each track, in the order of their bytes.
    static func bytes(sequence: UInt32, runs: [[some FragmentSample]]) -> [UInt8] {
        let movieSize = runs.reduce(emptyMovieFragmentSize) {
            $0 &+ emptyTrackFragmentSize &+ sampleEntrySize &* $1.count
        }
        var writer = BoxWriter(capacity: movieSize &+ dataHeaderSize)
        var offset = movieSize &+ dataHeaderSize
        writer.box("moof") { fragment in
            fragment.fullBox("mfhd") { $0.put(sequence) }
            for run in runs {
                guard let first = run.first else { continue }
                fragment.box("traf") { box in
                    // Flag: default-base-is-moof.
                    box.fullBox("tfhd", flags: 0x02_0000) { $0.put(first.trackID) }
                    box.fullBox("tfdt", version: 1) { $0.put(first.time) }
                    // Flags: data offset, then duration, size and flags of each sample.
                    box.fullBox("trun", flags: 0x701) { box in
                        box.put(UInt32(clamping: run.count))
                        box.put(UInt32(clamping: offset))
                        for sample in run {
                            box.put(sample.duration)
                            box.put(sample.size)
                            box.put(flags(isSync: sample.isSync))
                        }
                    }
                }
                offset = run.reduce(offset) { $0 &+ Int(clamping: $1.size) }
            }
        }
        writer.put(UInt32(clamping: offset &- movieSize))
        writer.put("mdat")
        return writer.bytes
    }

    /// Returns `sample_depends_on` (2: on no others, 1: on others) and `sample_is_non_sync_sample` (8.8.3.1).
    private static func flags(isSync: Bool) -> UInt32 { isSync ? 2 << 24 : 1 << 24 | 1 << 16 }
}
