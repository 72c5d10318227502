package import Media

/// A reader of a ``FragmentedMP4`` stream with in-band parameter sets, which returns the access units from bytes as
/// they arrive.
///
/// It reads what this package writes and skips unknown boxes. From an access unit it restores the bytes, the PTS and
/// whether it is a keyframe.
package struct FragmentReader: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// The bytes are not such a stream.
        case malformed
        /// A box is longer than any picture of a session.
        case tooLong
    }

    /// The fields of a `moof` that describe the `mdat` after it.
    private struct Head {
        let pts: Int64
        let isKey: Bool
    }

    /// The types of the boxes to read, four ASCII characters each.
    private enum BoxType: UInt32 {
        case movieFragment = 0x6D6F_6F66  // moof
        case track = 0x7472_6166  // traf
        case decodeTime = 0x7466_6474  // tfdt
        case run = 0x7472_756E  // trun
        case data = 0x6D64_6174  // mdat
    }

    /// The longest box, in bytes: a picture and its overhead.
    private static let maximumBox: UInt32 = 32 << 20
    private static let boxHeader = 8
    /// The latest PTS, in µs: far below the value at which times overflow.
    private static let latest: Int64 = 1 << 62

    private var bytes: [UInt8] = []
    private var head: Head?

    package init() {}

    /// Whether the bytes so far end with a complete box.
    package var isWhole: Bool { bytes.isEmpty && head == nil }

    /// Returns the access units that are complete with these bytes. Their times other than the PTS, and their size, are
    /// 0.
    package mutating func append(_ more: some Sequence<UInt8>) throws(Failure) -> [AccessUnit] {
        bytes.append(contentsOf: more)
        var (head, units) = (head, [AccessUnit]())
        let left = try bytes.span.bytes.withUnsafeBytes { bytes throws(Failure) in
            var reader = ByteReader(bytes)
            while let box = try Self.nextBox(of: &reader) {
                switch box.type {
                case .movieFragment: head = try Self.readHead(box.payload)
                case .data:
                    guard let known = head else { throw .malformed }
                    units.append(try Self.accessUnit(known, box.payload))
                    head = nil
                case .track, .decodeTime, .run, nil: break
                }
            }
            return reader.count
        }
        self.head = head
        bytes.removeLeading(bytes.count &- left)
        return units
    }

    /// Returns the next box, or `nil` if it is not complete yet. In that case it reads nothing.
    private static func nextBox(of reader: inout ByteReader) throws(Failure) -> (type: BoxType?, payload: ByteReader)? {
        var ahead = reader
        guard let size = ahead.u32(), let type = ahead.u32() else { return nil }
        guard size >= boxHeader else { throw .malformed }
        guard size <= maximumBox else { throw .tooLong }
        guard let payload = ahead.take(Int(clamping: size) &- boxHeader) else { return nil }
        reader = ahead
        return (BoxType(rawValue: type), payload)
    }

    /// Reads the decode time, and the flags of the only sample.
    private static func readHead(_ payload: ByteReader) throws(Failure) -> Head {
        let track = try box(.track, in: payload)
        var time = try box(.decodeTime, in: track)
        var run = try box(.run, in: track)
        // Version and flags; then 8 bytes of decode time; count, offset, duration, size and flags.
        guard time.u8() == 1, time.skip(3), let pts = time.u64().flatMap({ Int64(exactly: $0) }), pts <= latest,
            run.skip(20), let flags = run.u32()
        else { throw .malformed }
        return Head(pts: pts, isKey: flags & 1 << 16 == 0)
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
        var rest = payload
        while let size = rest.u32(), let type = rest.u32() {
            guard size >= boxHeader, let payload = rest.take(Int(clamping: size) &- boxHeader) else { throw .malformed }
            if type == wanted.rawValue { return payload }
        }
        throw .malformed
    }
}
