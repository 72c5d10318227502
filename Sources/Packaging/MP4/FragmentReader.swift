package import Media

/// A reader of a ``FragmentedMP4`` stream with in-band parameter sets, which returns the access units from bytes as
/// they arrive.
///
/// It reads what this package writes and skips unknown boxes. From an access unit it restores the bytes, the PTS and
/// whether it is a keyframe; from a packet of sound the bytes, the PTS and the track.
package struct FragmentReader: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// The bytes are not such a stream.
        case malformed
        /// A box is longer than any picture of a session.
        case tooLong
    }

    /// The fields of a `moof` that describe the `mdat` after it.
    private struct Head {
        /// `nil` for an unknown one.
        let track: MediaTrack?
        let pts: Int64
        let isKey: Bool
    }

    /// The longest box, in bytes: a picture and its overhead.
    private static let maximumBox: UInt32 = 32 << 20
    /// The latest PTS, in µs: far below the value at which times overflow.
    private static let latest: Int64 = 1 << 62

    /// The most tracks of a movie.
    private static let mostTracks = 16
    /// The bytes of an audio sample entry before its boxes (14496-12, 12.2.3).
    private static let soundEntrySize = 28

    private var bytes: [UInt8] = []
    private var head: Head?
    /// The audio tracks that the initialization segment declares.
    package private(set) var sound: [MediaTrack] = []

    package init() {}

    /// Whether the bytes so far end with a complete box.
    package var isWhole: Bool { bytes.isEmpty && head == nil }

    /// Returns the units that are complete with these bytes. Their times other than the PTS, and their size, are 0.
    package mutating func append(_ more: some Sequence<UInt8>) throws(Failure) -> [AccessUnit] {
        bytes.append(contentsOf: more)
        var (head, units, sound) = (head, [AccessUnit](), sound)
        let left = try bytes.span.bytes.withUnsafeBytes { bytes throws(Failure) in
            var reader = ByteReader(bytes)
            while let box = try Self.nextBox(of: &reader) {
                switch box.type {
                case .movie: sound = try Self.readSound(box.payload)
                case .movieFragment: head = try Self.readHead(box.payload, sound)
                case .data:
                    guard let known = head else { throw .malformed }
                    if let unit = try Self.unit(known, box.payload) { units.append(unit) }
                    head = nil
                default: break
                }
            }
            return reader.count
        }
        (self.head, self.sound) = (head, sound)
        bytes.removeLeading(bytes.count &- left)
        return units
    }

    /// Returns the next box, or `nil` if it is not complete yet. In that case it reads nothing.
    private static func nextBox(of reader: inout ByteReader) throws(Failure) -> (type: BoxType?, payload: ByteReader)? {
        var ahead = reader
        guard let size = ahead.u32(), let type = ahead.u32() else { return nil }
        guard size >= ByteReader.boxHeader else { throw .malformed }
        guard size <= maximumBox else { throw .tooLong }
        guard let payload = ahead.take(Int(clamping: size) &- ByteReader.boxHeader) else { return nil }
        reader = ahead
        return (BoxType(rawValue: type), payload)
    }

    /// Reads the audio tracks of a movie.
    private static func readSound(_ payload: ByteReader) throws(Failure) -> [MediaTrack] {
        var (rest, tracks) = (payload, [MediaTrack]())
        while let box = try nextBox(of: &rest) {
            guard box.type == .movieTrack, tracks.count < mostTracks else { continue }
            var header = try Self.box(.movieTrackHeader, in: box.payload)
            let media = try Self.box(.media, in: box.payload)
            let table = try Self.box(.table, in: try Self.box(.information, in: media))
            var descriptions = try Self.box(.descriptions, in: table)
            // Version and flags, then two dates; version and flags, then the number of entries.
            guard header.skip(12), let id = header.u32(), id > 1, let trackID = MediaTrack.ID(exactly: id &- 1),
                descriptions.skip(8), let entry = try nextBox(of: &descriptions)
            else { continue }
            switch entry.type {
            case .opus: tracks.append(MediaTrack(id: trackID, coding: .opus(try opus(entry.payload))))
            case .aac: tracks.append(MediaTrack(id: trackID, coding: .aac(try aac(entry.payload))))
            default: continue
            }
        }
        return tracks
    }

    private static func opus(_ entry: ByteReader) throws(Failure) -> OpusParameters {
        var boxes = entry
        guard boxes.skip(soundEntrySize) else { throw .malformed }
        var parameters = try Self.box(.opusParameters, in: boxes)
        guard parameters.skip(1), let channels = parameters.u8(), let preSkip = parameters.u16(),
            let opus = OpusParameters(channels: channels, preSkip: preSkip)
        else { throw .malformed }
        return opus
    }

    /// Reads the channels that the sample entry names. All AAC of this package has the same other parameters.
    private static func aac(_ entry: ByteReader) throws(Failure) -> AACParameters {
        var rest = entry
        guard rest.skip(16), let channels = rest.u16().flatMap({ UInt8(exactly: $0) }),
            let aac = AACParameters(channels: channels)
        else { throw .malformed }
        return aac
    }

    /// Reads the decode time, and the flags of the only sample.
    private static func readHead(_ payload: ByteReader, _ sound: [MediaTrack]) throws(Failure) -> Head {
        let track = try box(.track, in: payload)
        var header = try box(.trackHeader, in: track)
        var time = try box(.decodeTime, in: track)
        var run = try box(.run, in: track)
        // Version and flags; then 8 bytes of decode time; count, offset, duration, size and flags.
        guard header.skip(4), let id = header.u32(), time.u8() == 1, time.skip(3),
            let pts = time.u64().flatMap({ Int64(exactly: $0) }), pts <= latest,
            run.skip(20), let flags = run.u32()
        else { throw .malformed }
        let isKey = flags & 1 << 16 == 0
        // The codec of the pictures does not matter here.
        guard id != 1 else { return Head(track: .video(.h264), pts: pts, isKey: isKey) }
        guard let track = sound.first(where: { TrackDescription.id(of: $0) == id }) else {
            return Head(track: nil, pts: 0, isKey: false)
        }
        return Head(track: track, pts: track.microseconds(of: pts), isKey: isKey)
    }

    private static func unit(_ head: Head, _ payload: ByteReader) throws(Failure) -> AccessUnit? {
        switch head.track?.kind {
        case .video: return try accessUnit(head, payload)
        case .audio:
            return AccessUnit(
                UnitHeader(
                    track: head.track?.id ?? MediaTrack.videoID,
                    pts: head.pts,
                    captured: 0,
                    encodeStart: 0,
                    encodeEnd: 0,
                    flags: .key,
                    size: PictureSize(width: 0, height: 0)
                ),
                payload.bytes
            )
        case nil: return nil
        }
    }

    /// Restores an access unit: NAL units with start codes in place of their lengths.
    private static func accessUnit(_ head: Head, _ payload: ByteReader) throws(Failure) -> AccessUnit {
        var (rest, annexB) = (payload, [UInt8]())
        annexB.reserveCapacity(payload.count)
        while rest.count > 0 {
            guard let size = rest.u32(), size > 0, let unit = rest.take(Int(clamping: size)) else { throw .malformed }
            annexB.append(contentsOf: [0, 0, 0, 1])
            annexB.append(contentsOf: unit.remaining)
        }
        return AccessUnit(
            pts: head.pts,
            captured: 0,
            encodeStart: 0,
            encodeEnd: 0,
            flags: head.isKey ? .key : [],
            size: PictureSize(width: 0, height: 0),
            bytes: annexB
        )
    }

    /// Returns the payload of the first box of that type.
    private static func box(_ wanted: BoxType, in payload: ByteReader) throws(Failure) -> ByteReader {
        guard let box = payload.box(wanted) else { throw .malformed }
        return box
    }
}
