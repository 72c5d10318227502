import TestSupport

/// A reader of fragmented MP4: complete boxes, an initialization segment, and fragments of one picture each with
/// increasing numbers and times.
struct MovieReader: StreamReader {
    /// Longer than any access unit.
    private static let mostBytes: UInt64 = 18 << 20

    private var buffer: [UInt8] = []
    private var hasBeginning = false
    private var fragment: Fragment?
    private var number: UInt64?
    private var time: UInt64?
    private(set) var whole = 0
    /// The number of bytes of all boxes so far.
    private var taken = 0

    private struct Fragment {
        let time: UInt64
        let size: Int
        let isKey: Bool
    }

    /// Records that the initialization segment has come by another way.
    mutating func begin() { hasBeginning = true }

    var remainder: Int { buffer.count }

    mutating func take(_ bytes: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        buffer += bytes
        var begin = 0
        defer { buffer.removeFirst(begin) }
        while buffer.count - begin >= 8 {
            let size = buffer[begin..<(begin + 4)].number
            try expect((8...Self.mostBytes).contains(size), "a box of no size", "\(size)")
            guard buffer.count - begin >= Int(size) else { return }
            guard let box = Box.boxes(buffer[begin..<(begin + Int(size))])?.first else {
                throw Fault("a box that is none")
            }
            begin += Int(size)
            taken += Int(size)
            try take(box, see)
        }
    }

    private mutating func take(_ box: Box, _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        switch box.type {
        case "ftyp":
            try expect(!hasBeginning && fragment == nil, "a second beginning of a movie")
        case "moov":
            try expect(box["trak"]?["mdia"]?["minf"]?["stbl"] != nil, "a moov without a track", box.outline)
            hasBeginning = true
        case "moof":
            try expect(hasBeginning, "a fragment before the beginning")
            try expect(fragment == nil, "a fragment without its data")
            fragment = try read(box)
        case "mdat":
            guard let fragment else { throw Fault("data without a fragment") }
            try expect(box.payload.count == fragment.size, "a fragment that says another size", "\(fragment.size)")
            (self.fragment, whole) = (nil, taken)
            let bytes = try Self.byteStream(box.payload)
            try see(
                SeenPicture(
                    bytes: bytes,
                    isKey: fragment.isKey,
                    time: Int64(clamping: fragment.time),
                    isRewritten: true
                )
            )
        default: throw Fault("a box out of place", box.type)
        }
    }

    private mutating func read(_ box: Box) throws(Fault) -> Fragment {
        guard let head = box["mfhd"], let track = box["traf"], let decodeTime = track["tfdt"], let run = track["trun"],
            head.payload.count == 8, decodeTime.payload.count == 12, run.payload.count == 24, run.number(4..<8) == 1
        else { throw Fault("a fragment that is not of one picture", box.outline) }
        let (next, time) = (head.number(4..<8), decodeTime.number(4..<12))
        let isKey = run.number(20..<24) & 0x1_0000 == 0
        if let number {
            try expect(next > number, "a fragment's number that does not increase", "\(next) behind \(number)")
            try expect(
                next == number + 1 || isKey,
                "missing fragments without a keyframe after them",
                "\(number), \(next)"
            )
        } else {
            try expect(isKey, "a viewer that begins without a keyframe", "in a movie")
        }
        if let last = self.time {
            try expect(time > last, "a decode time that does not increase", "\(time) behind \(last)")
        }
        try expect(run.number(8..<12) == UInt64(box.payload.count + 16), "a fragment whose data is elsewhere")
        (number, self.time) = (next, time)
        return Fragment(time: time, size: Int(run.number(16..<20)), isKey: isKey)
    }

    private static func byteStream(_ data: [UInt8]) throws(Fault) -> [UInt8] {
        var (bytes, place) = ([UInt8](), 0)
        bytes.reserveCapacity(data.count)
        while place < data.count {
            guard data.count - place >= 4 else { throw Fault("a NAL unit without a length") }
            let length = Int(data[place..<(place + 4)].number)
            let end = place + 4 + length
            try expect(length > 0 && end <= data.count, "a NAL unit that is longer than its fragment", "\(length)")
            bytes += [0, 0, 0, 1] + data[(place + 4)..<end]
            place = end
        }
        return bytes
    }
}
