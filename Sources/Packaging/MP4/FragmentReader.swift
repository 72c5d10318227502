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

    /// Longest box, in bytes: a picture and its overhead.
    private static let maximumBox = 32 << 20
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
        bytes += more
        var units: [AccessUnit] = []
        var place = 0
        while bytes.count - place >= Self.boxHeader {
            let size = Int(number(at: place, as: UInt32.self))
            guard size >= Self.boxHeader else { throw .malformed }
            guard size <= Self.maximumBox else { throw .tooLong }
            guard bytes.count - place >= size else { break }
            let payload = (place + Self.boxHeader)..<(place + size)
            switch type(at: place) {
            case "moof": head = try readHead(payload)
            case "mdat":
                guard let head else { throw .malformed }
                units.append(try accessUnit(head, payload))
                self.head = nil
            default: break
            }
            place += size
        }
        bytes.removeFirst(place)
        return units
    }

    /// The decode time, and the flags of the only sample.
    private func readHead(_ payload: Range<Int>) throws(Failure) -> Head {
        let track = try box("traf", in: payload)
        let time = try box("tfdt", in: track)
        let run = try box("trun", in: track)
        // Version and flags; then 8 bytes of decode time; count, offset, duration, size and flags.
        guard time.count >= 12, bytes[time.lowerBound] == 1, run.count >= 24,
            let pts = Int64(exactly: number(at: time.lowerBound + 4, as: UInt64.self)), pts <= Self.latest
        else { throw .malformed }
        let flags = number(at: run.lowerBound + 20, as: UInt32.self)
        return Head(pts: pts, isKey: flags & 1 << 16 == 0)
    }

    /// NAL units with start codes in place of their lengths.
    private func accessUnit(_ head: Head, _ payload: Range<Int>) throws(Failure) -> AccessUnit {
        var annexB: [UInt8] = []
        annexB.reserveCapacity(payload.count)
        var place = payload.lowerBound
        while place < payload.upperBound {
            guard payload.upperBound - place >= 4 else { throw .malformed }
            let size = Int(number(at: place, as: UInt32.self))
            place += 4
            guard size > 0, size <= payload.upperBound - place else { throw .malformed }
            annexB += [0, 0, 0, 1]
            annexB += bytes[place..<(place + size)]
            place += size
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
    private func box(_ wanted: String, in range: Range<Int>) throws(Failure) -> Range<Int> {
        var place = range.lowerBound
        while range.upperBound - place >= Self.boxHeader {
            let size = Int(number(at: place, as: UInt32.self))
            guard size >= Self.boxHeader, size <= range.upperBound - place else { throw .malformed }
            if type(at: place) == wanted { return (place + Self.boxHeader)..<(place + size) }
            place += size
        }
        throw .malformed
    }

    private func type(at place: Int) -> String { String(decoding: bytes[(place + 4)..<(place + 8)], as: UTF8.self) }

    private func number<Number: FixedWidthInteger>(at place: Int, as: Number.Type) -> Number {
        bytes[place..<(place + Number.bitWidth / 8)].reduce(0) { $0 << 8 | Number($1) }
    }
}
