import Media

/// What an MP4 file of another program says of itself (ISO/IEC 14496-12), besides where its samples are.
package struct MovieSummary: Sendable {
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// It does not begin like one.
        case notMP4
        /// It has no `moov`, or one that is cut off or too large.
        case noHeader
        /// It has neither pictures nor sound.
        case noTracks
        /// It is fragmented, and does not say how long it lasts.
        case noDuration
        case unreadable

        package var description: String {
            switch self {
            case .notMP4: "It is not an MP4 file."
            case .noHeader: "Its header, which says where everything is, is missing: the file is not whole."
            case .noTracks: "It has neither pictures nor sound."
            case .noDuration:
                "It does not say how long it lasts. Write it again: ffmpeg -i FILE -c copy NEW.mp4"
            case .unreadable: "It cannot be read."
            }
        }
    }

    /// The tracks of pictures and sound, in order.
    package let tracks: [TrackDescription]
    /// In µs.
    package let duration: Int64
    /// Of the first track of pictures: how many there are in a second, and at how many of them decoding can begin; 0 if
    /// that is not known.
    package let (fps, keyframes): (Double, Int64)
    package let tags: MediaTags

    /// The most bytes of `moov`, boxes before it, and tracks.
    private static let (mostHeader, mostBoxes, mostTracks) = (256 << 20, 10_000, 16)
    /// The longest duration, in units of a time scale: far below the value at which times overflow.
    private static let latest: UInt64 = 1 << 50
    /// The number of bytes of a box's header whose size has 64 bits.
    private static let longHeader = 16

    /// - Parameter size: The file's size.
    package init(size: UInt64, read: RecordingScan.Read) throws(Failure) {
        let header = try Self.header(size: size, read)
        self = try header.read { header throws(Failure) in try MovieSummary(header) }
    }

    /// Returns the payload of `moov`.
    private static func header(size: UInt64, _ read: RecordingScan.Read) throws(Failure) -> [UInt8] {
        var offset: UInt64 = 0
        for number in Range(from: 0, to: mostBoxes) where offset < size {
            guard let head = read(offset, longHeader) else { throw .unreadable }
            guard let box = head.read({ boxHeader($0, left: size &- offset) }) else {
                throw number == 0 ? .notMP4 : .noHeader
            }
            guard number > 0 || box.type == .fileType else { throw .notMP4 }
            if box.type == .movie {
                guard box.size <= UInt64(clamping: mostHeader) else { throw .noHeader }
                let count = Int(clamping: box.size) &- box.header
                guard let bytes = read(offset &+ UInt64(clamping: box.header), count) else { throw .unreadable }
                guard bytes.count == count else { throw .noHeader }
                return bytes
            }
            offset &+= box.size
        }
        throw .noHeader
    }

    /// Reads the header of a box; `nil` if the box is not whole.
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
        guard let size, size >= UInt64(clamping: header), size <= left else { return nil }
        return (BoxType(rawValue: type), header, size)
    }

    /// Reads the payload of `moov`.
    private init(_ movie: ByteReader) throws(Failure) {
        var (rest, tracks, pictures) = (movie, [TrackDescription](), ByteReader?.none)
        while let box = rest.nextBox(), tracks.count < Self.mostTracks {
            // Others have texts or times.
            guard box.type == .movieTrack, let track = TrackDescription(box.payload) else { continue }
            tracks.append(track)
            if pictures == nil, track.kind == .video { pictures = box.payload }
        }
        guard !tracks.isEmpty else { throw .noTracks }
        guard let header = movie.box(.movieHeader), let scale = Self.timescale(header),
            let duration = Self.duration(header, after: 4)
                ?? movie.box(at: .movieExtends, .movieExtendsHeader).flatMap({ Self.duration($0, after: 0) })
        else { throw .noDuration }
        self.tracks = tracks
        self.duration = Int64(clamping: MovieHeader.duration(duration, of: scale))
        (fps, keyframes) = pictures.map(Self.pictures) ?? (0, 0)
        tags = MediaTags(movie: movie)
    }

    /// Returns a duration in units of a header's time scale; `nil` if it is not known.
    private static func duration(_ header: ByteReader, after fields: Int) -> UInt64? {
        guard let duration = header.duration(after: fields), duration > 0, duration <= latest,
            duration != UInt64(clamping: UInt32.max)
        else { return nil }
        return duration
    }

    /// Returns the time units per second that `mvhd` or `mdhd` gives.
    private static func timescale(_ header: ByteReader) -> UInt32? {
        var header = header
        guard header.skip(header[at: 0] == 1 ? 20 : 12), let scale = header.u32(), scale > 0 else { return nil }
        return scale
    }

    /// Returns how many pictures a track has in a second, and at how many of them decoding can begin.
    private static func pictures(_ track: ByteReader) -> (fps: Double, keyframes: Int64) {
        guard let header = track.box(at: .media, .mediaHeader), let scale = timescale(header),
            let duration = duration(header, after: 4), let table = track.box(at: .media, .information, .table),
            var sizes = table.box(.sizes), sizes.skip(8), let count = sizes.u32()
        else { return (0, 0) }
        var syncs = table.box(.syncs)
        syncs?.skip(4)
        // Without stss, decoding can begin at every sample.
        return (Double(count) * Double(scale) / Double(duration), Int64(clamping: syncs?.u32() ?? count))
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
