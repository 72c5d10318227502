package import Media

/// A recording in fragmented MP4. It is playable even if it breaks off, and complete with duration and index once it is
/// ended.
///
/// Its time 0 is its first keyframe. Parameter sets are in band, so it can continue when the picture's size changes.
package struct MP4Recording: Sendable {
    /// The data that completes the file.
    package struct Ending: Sendable, Equatable {
        /// Bytes to write over the file at these offsets.
        package let patches: [Patch]
        /// Bytes to append: the index of keyframes.
        package let index: [UInt8]
    }

    package struct Patch: Sendable, Equatable {
        package let offset: Int
        package let bytes: [UInt8]
    }

    /// A keyframe in the index.
    private struct Entry {
        let time: UInt64
        let offset: Int
    }

    private let track: MediaTrack
    private let fps: Int
    /// The tracks of sound. They may be declared until the first keyframe.
    package var sound: [MediaTrack] = []
    private var packager: FragmentedMP4?
    private var origin: Int64 = 0
    /// The number of bytes of the file so far, and the offset of its last picture's fragment.
    private var (size, lastFragment) = (0, 0)
    private var reserve = 0
    private var lastTime: Int64 = 0
    private var keyframes: [Entry] = []

    package init(codec: Codec, fps: Int) {
        track = .video(codec)
        self.fps = fps
    }

    /// Returns the bytes to append to the file for the session's next unit: none for sound that comes before the first
    /// keyframe.
    ///
    /// - Throws: The same errors as ``FragmentedMP4/fragment(_:)``.
    package mutating func append(_ accessUnit: AccessUnit) throws(PackagingError) -> [UInt8] {
        let isVideo = accessUnit.header.track == track.id
        guard isVideo || packager != nil && accessUnit.pts >= origin else { return [] }
        var packager =
            packager
            ?? FragmentedMP4(
                tracks: [track] + sound,
                fps: fps,
                place: .inBand,
                origin: max(0, accessUnit.pts),
                reservesDuration: true
            )
        let fragment = try packager.fragment(accessUnit)
        var bytes: [UInt8] = []
        if self.packager == nil, let initialization = packager.initialization {
            origin = accessUnit.pts
            bytes = initialization.bytes
            let extends = InitializationSegment.extendsSize * (1 + sound.count)
            reserve = bytes.count - extends - InitializationSegment.reserveSize
        }
        self.packager = packager
        if isVideo {
            lastTime = accessUnit.pts - origin
            lastFragment = size + bytes.count
            if accessUnit.isKey { keyframes.append(Entry(time: UInt64(lastTime), offset: lastFragment)) }
        }
        bytes += fragment.bytes
        size += bytes.count
        return bytes
    }

    /// Ends the recording. Nothing may be appended afterwards.
    ///
    /// - Parameter end: The PTS at which the last picture ends, in µs. The picture lasts at least 1 µs.
    /// - Returns: `nil` if nothing was recorded.
    package func ending(at end: Int64) -> Ending? {
        guard packager != nil else { return nil }
        let (sinceOrigin, overflow) = end.subtractingReportingOverflow(origin)
        let duration = max(overflow ? 0 : sinceOrigin, lastTime + 1)
        var last: [UInt8] = []
        last.append(bigEndian: UInt32(clamping: duration - lastTime))
        var extends = BoxWriter()
        let unit = Int64(track.timescale / InitializationSegment.movieTimescale)
        extends.fullBox("mehd") { $0.put(UInt32(clamping: (duration + unit / 2) / unit)) }
        return Ending(
            patches: [
                Patch(offset: reserve, bytes: extends.bytes),
                Patch(offset: lastFragment + FragmentedMP4.durationOffset, bytes: last),
            ],
            index: index
        )
    }

    /// `mfra` (ISO/IEC 14496-12, 8.8.9): the time and offset of each keyframe.
    private var index: [UInt8] {
        var writer = BoxWriter()
        writer.box("mfra") { access in
            access.fullBox("tfra", version: 1) { box in
                box.put(InitializationSegment.trackID(of: track))
                box.put(UInt32(0))  // The three numbers after an offset have one byte each.
                box.put(UInt32(keyframes.count))
                for keyframe in keyframes {
                    box.put(keyframe.time)
                    box.put(UInt64(keyframe.offset))
                    box.put([1, 1, 1])  // traf, trun and sample number
                }
            }
            // The size of mfra: the bytes written so far, and this box of 16 bytes.
            let size = UInt32(access.bytes.count + 16)
            access.fullBox("mfro") { $0.put(size) }
        }
        return writer.bytes
    }
}
