import TestSupport

/// A reader that parses a viewer's stream as it arrives and checks that it is well formed.
protocol StreamReader {
    /// Accepts the next bytes.
    ///
    /// - Parameter see: Called for every complete picture.
    mutating func take(_ bytes: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault)
    /// The bytes of an incomplete picture.
    var remainder: Int { get }
    /// The bytes of the stream up to the end of the last complete picture, if the format is used in files.
    var whole: Int { get }
    /// How often the stream has said that pictures are missing.
    var gapsTold: Int { get }
}

extension StreamReader {
    var gapsTold: Int { 0 }
    var whole: Int { 0 }
}

/// A reader of the bare byte stream, in which only the numbers show where an access unit ends.
struct ByteStreamReader: StreamReader {
    /// More than the longest access unit.
    private static let mostBytes = 40 << 20

    private let ledger: UnitLedger
    private var buffer: [UInt8] = []
    /// The position up to which the buffer has been searched.
    private var searched = 0
    private(set) var whole = 0

    init(ledger: UnitLedger) { self.ledger = ledger }

    var remainder: Int { buffer.count }

    mutating func take(_ bytes: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        buffer += bytes
        var begin = 0
        defer {
            buffer.removeFirst(begin)
            searched = max(0, searched - begin)
        }
        while let place = Marker.find(in: buffer, from: max(begin, searched)) {
            searched = place.offset
            guard let entry = ledger[place.number], let marker = entry.content.marker else {
                throw Fault("a picture that was never sent", "number \(place.number)")
            }
            guard !ledger.rested.contains(entry.session) else {
                // The relay's version of it has another length.
                try see(SeenPicture(bytes: Array(buffer[place.offset...].prefix(Marker.byteCount))))
                (begin, searched) = (place.offset + 1, place.offset + 1)
                continue
            }
            let start = place.offset - marker.offset
            try expect(start >= begin, "a picture that begins in another", "\(place.number)")
            guard let end = end(of: entry.content, from: start) else { return }
            if start > begin { try see(SeenPicture(bytes: Array(buffer[begin..<start]))) }
            try see(SeenPicture(bytes: Array(buffer[start..<end])))
            whole += end - begin
            (begin, searched) = (end, end)
        }
        // A marker may be incomplete.
        searched = max(begin, buffer.count - 64)
        try expect(buffer.count - begin <= Self.mostBytes, "a stream without pictures")
    }

    /// Returns the end of the picture that begins at `start`, as it was sent or changed; `nil` if it is incomplete.
    private func end(of unit: MadeUnit, from start: Int) -> Int? {
        let end = start + unit.bytes.count
        guard end <= buffer.count else { return nil }
        guard buffer[start..<end] != unit.bytes[...], let changed = unit.changed else { return end }
        return start + changed.count <= buffer.count ? start + changed.count : nil
    }
}

/// A reader of scrcpy's packets.
struct PacketReader: StreamReader {
    private static let headerSize = 12
    /// Longer than any access unit.
    private static let mostBytes = 17 << 20

    private var buffer: [UInt8] = []
    private var sets: [UInt8]?

    var remainder: Int { buffer.count }

    mutating func take(_ bytes: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        buffer += bytes
        var begin = 0
        defer { buffer.removeFirst(begin) }
        while buffer.count - begin >= Self.headerSize {
            let head = buffer[begin..<(begin + 8)].number
            let size = Int(buffer[(begin + 8)..<(begin + Self.headerSize)].number)
            try expect(size <= Self.mostBytes, "a packet that is too long", "\(size) bytes")
            let end = begin + Self.headerSize + size
            guard buffer.count >= end else { return }
            let body = Array(buffer[(begin + Self.headerSize)..<end])
            begin = end
            if head >> 63 == 1 {
                try expect(head == 1 << 63 && sets == nil, "a configuration packet out of place")
                sets = body
                continue
            }
            let isKey = head >> 62 == 1
            try expect(isKey || sets == nil, "a configuration packet without its keyframe")
            let time = Int64(head & (1 << 62 - 1))
            try see(SeenPicture(bytes: (sets ?? []) + body, isKey: isKey, time: time))
            sets = nil
        }
    }
}
