package import Media

/// What an MP4 file of another program says of itself (ISO/IEC 14496-12), besides where its samples are.
package struct MovieSummary: Sendable {
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// It does not begin like one.
        case notMP4
        /// It has no `moov`, or one that is cut off or too large.
        case noHeader
        /// It has neither pictures nor sound.
        case noTracks
        /// It is fragmented, and does not say how long it lasts, or lasts longer than a year.
        case noDuration
        /// The samples go on after the file's end.
        case cutOff
        case unreadable

        package var description: String {
            switch self {
            case .notMP4: "It is not an MP4 file."
            case .noHeader: "Its header, which says where everything is, is missing: the file is not whole."
            case .noTracks: "It has neither pictures nor sound."
            case .noDuration:
                "It does not say how long it lasts. Write it again: ffmpeg -i FILE -c copy NEW.mp4"
            case .cutOff: "It is not whole: the end is missing."
            case .unreadable: "It cannot be read."
            }
        }
    }

    /// The tracks of pictures and sound, in order.
    package let tracks: [TrackDescription]
    /// In µs.
    package let duration: Int64
    /// Of the first track of pictures: the size at which they are shown, upright; `nil` without pictures.
    package let size: PictureSize?
    /// How many of them there are in a second, and at how many of them decoding can begin; 0 if that is not known.
    package let (fps, keyframes): (Double, Int64)
    package let tags: MediaTags

    /// The most bytes of `moov`, boxes before it, and tracks.
    private static let (mostHeader, mostBoxes, mostTracks) = (64 << 20, 10_000, 16)
    /// The longest duration, in s: a year.
    private static let longest: UInt64 = 366 * 86_400
    /// The number of bytes of a box's header whose size has 64 bits.
    private static let longHeader = 16

    /// - Parameter size: The file's size.
    package init(size: UInt64, read: RecordingScan.Read) throws(Failure) {
        let header = try Self.header(size: size, read)
        self = try header.read { header throws(Failure) in try MovieSummary(header) }
    }

    /// Returns the payload of `moov`.
    private static func header(size: UInt64, _ read: RecordingScan.Read) throws(Failure) -> [UInt8] {
        var (offset, movie) = (UInt64(0), [UInt8]?.none)
        for number in Range(from: 0, to: mostBoxes) where offset < size {
            guard let head = read(offset, longHeader) else { throw .unreadable }
            let left = size &- offset
            let box = head.read { boxHeader($0, left: left) }
            guard number > 0 || box?.type == .fileType else { throw .notMP4 }
            // Some programs leave other bytes at the end.
            guard let box else { break }
            guard box.size <= left else {
                if box.type == .data || movie == nil { throw .cutOff }
                break
            }
            if movie == nil, box.type == .movie {
                guard box.size <= UInt64(clamping: mostHeader) else { throw .noHeader }
                let count = Int(clamping: box.size) &- box.header
                guard let bytes = read(offset &+ UInt64(clamping: box.header), count) else { throw .unreadable }
                guard bytes.count == count else { throw .cutOff }
                movie = bytes
            }
            offset &+= box.size
        }
        guard let movie else { throw .noHeader }
        return movie
    }

    /// Reads the header of a box; `nil` if it is none.
    ///
    /// - Parameter left: The number of bytes until the end of the file.
    private static func boxHeader(
        _ bytes: ByteReader,
        left: UInt64
    ) -> (type: BoxType?, header: Int, size: UInt64)? {
        var bytes = bytes
        guard let short = bytes.u32(), let type = bytes.u32() else { return nil }
        let header = short == 1 ? longHeader : ByteReader.boxHeader
        let size: UInt64?
        switch short {
        // It lasts until the end of the file.
        case 0: size = left
        case 1: size = bytes.u64()
        default: size = UInt64(clamping: short)
        }
        guard let size, size >= UInt64(clamping: header) else { return nil }
        return (BoxType(rawValue: type), header, size)
    }

    /// Reads the payload of `moov`.
    private init(_ movie: ByteReader) throws(Failure) {
        var (rest, tracks) = (movie, [TrackDescription]())
        var pictures: (track: TrackDescription, payload: ByteReader)?
        while let box = rest.nextBox(), tracks.count < Self.mostTracks {
            // Others have texts or times.
            guard box.type == .movieTrack, let track = TrackDescription(box.payload) else { continue }
            tracks.append(track)
            if pictures == nil, track.kind == .video { pictures = (track, box.payload) }
        }
        guard !tracks.isEmpty else { throw .noTracks }
        guard let header = movie.box(.movieHeader), let scale = header.timescale,
            let ticks = Self.duration(header, after: 4, scale)
                ?? movie.box(at: .movieExtends, .movieExtendsHeader).flatMap({ Self.duration($0, after: 0, scale) }),
            case let duration = Int64(clamping: MovieHeader.duration(ticks, of: scale)), duration > 0
        else { throw .noDuration }
        self.tracks = tracks
        self.duration = duration
        size = pictures.flatMap { Self.size(of: $0.track, $0.payload) }
        (fps, keyframes) = pictures.map { Self.counts(of: $0.track, $0.payload) } ?? (0, 0)
        tags = MediaTags(movie: movie)
    }

    /// Returns a duration in units of a time scale; `nil` if it is not known.
    private static func duration(_ header: ByteReader, after fields: Int, _ scale: UInt32) -> UInt64? {
        guard let duration = header.duration(after: fields), duration > 0, duration != UInt64(clamping: UInt32.max),
            duration <= longest &* UInt64(clamping: scale)
        else { return nil }
        return duration
    }

    /// Returns the size at which a track's pictures are shown.
    private static func size(of track: TrackDescription, _ payload: ByteReader) -> PictureSize? {
        guard let header = payload.box(.movieTrackHeader), let size = track.pictureSize else { return nil }
        // The matrix: of a quarter turn, the first and the fifth of its numbers are 0.
        var matrix = header.part(from: header.count &- 44, count: 36)
        guard let first = matrix.u32(), matrix.skip(12), let fifth = matrix.u32() else { return size }
        return first == 0 && fifth == 0 ? PictureSize(width: size.height, height: size.width) : size
    }

    /// Returns how many pictures a track has in a second, and at how many of them decoding can begin.
    private static func counts(of track: TrackDescription, _ payload: ByteReader) -> (fps: Double, keyframes: Int64) {
        guard let header = payload.box(at: .media, .mediaHeader),
            let duration = duration(header, after: 4, track.timescale),
            let table = payload.box(at: .media, .information, .table), var sizes = table.box(.sizes), sizes.skip(8),
            let count = sizes.u32()
        else { return (0, 0) }
        var syncs = table.box(.syncs)
        syncs?.skip(4)
        // Without stss, decoding can begin at every sample.
        let thousandths = (Double(count) * Double(track.timescale) / Double(duration) * 1000).rounded()
        return (thousandths / 1000, Int64(clamping: syncs?.u32() ?? count))
    }
}

extension MediaTags {
    /// Reads the tags in the payload of `moov`, as iTunes and ffmpeg write them (QuickTime File Format, Metadata).
    fileprivate init(movie: ByteReader) {
        self.init()
        guard let data = movie.box(.userData), var metadata = data.box(.metadata) else { return }
        // QuickTime writes neither version nor flags.
        if metadata.part(from: 0, count: 4).bytes == [0, 0, 0, 0] { metadata.skip(4) }
        guard var list = metadata.box(.tagList) else { return }
        while let box = list.nextBox() {
            // The kind of the value, and its language.
            guard let type = box.type, var value = box.payload.box(.tagValue), value.skip(8) else { continue }
            switch type {
            case .titleTag: title = title ?? Self.text(value)
            case .artistTag: artist = artist ?? Self.text(value)
            case .albumTag: album = album ?? Self.text(value)
            case .trackTag:
                guard value.skip(2), let number = value.u16(), number > 0 else { continue }
                track = value.u16().map { $0 > 0 ? "\(number)/\($0)" : "\(number)" } ?? "\(number)"
            case .coverTag: take(value, isFront: false)
            default: continue
            }
        }
    }

    private static func text(_ value: ByteReader) -> String? {
        trimmed(String(decoding: value.part(from: 0, count: longestText).bytes, as: UTF8.self))
    }
}
