package import Media

/// Takes a stream of ``FragmentedMP4`` with parameter sets in band apart again: the access units in its fragments, from bytes as they come.
///
/// It reads what this package writes and passes over boxes that it does not know. Of an access unit it tells the bytes, the PTS and whether it
/// is a keyframe.
package struct FragmentReader: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// The bytes are no such stream.
        case malformed
        /// A box is longer than any picture of a session.
        case tooLong
    }

    /// What a `moof` says of the `mdat` behind it.
    private struct Head {
        let pts: Int64
        let isKey: Bool
    }

    /// The types of the boxes that are read, four ASCII characters each.
    private enum BoxType: UInt32 {
        case movieFragment = 0x6D6F_6F66  // moof
        case track = 0x7472_6166  // traf
        case decodeTime = 0x7466_6474  // tfdt
        case run = 0x7472_756E  // trun
        case data = 0x6D64_6174  // mdat
    }

    /// Longest box, in bytes: a picture and its overhead.
    private static let maximumBox: UInt32 = 32 << 20
    private static let boxHeader = 8
    /// Latest PTS, µs: far from where times overflow.
    private static let latest: Int64 = 1 << 62

    private var bytes: [UInt8] = []
    private var head: Head?

    package init() {}

    /// Whether the bytes so far end with a whole box.
    package var isWhole: Bool { bytes.isEmpty && head == nil }

    /// The access units that are whole with these bytes. Their stamps other than the PTS, and their size, are 0.
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

    /// The next box, or `nil` if it is not whole yet; nothing of it is taken then.
    private static func nextBox(of reader: inout ByteReader) throws(Failure) -> (type: BoxType?, payload: ByteReader)? {
        var ahead = reader
        guard let size = ahead.u32(), let type = ahead.u32() else { return nil }
        guard size >= boxHeader else { throw .malformed }
        guard size <= maximumBox else { throw .tooLong }
        guard let payload = ahead.take(Int(clamping: size) &- boxHeader) else { return nil }
        reader = ahead
        return (BoxType(rawValue: type), payload)
    }

    /// The decode time, and the flags of the only sample.
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

    /// NAL units with start codes in place of their lengths.
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

    /// The payload of the first box of that type.
    private static func box(_ wanted: BoxType, in payload: ByteReader) throws(Failure) -> ByteReader {
        var rest = payload
        while let size = rest.u32(), let type = rest.u32() {
            guard size >= boxHeader, let payload = rest.take(Int(clamping: size) &- boxHeader) else { throw .malformed }
            if type == wanted.rawValue { return payload }
        }
        throw .malformed
    }
}
