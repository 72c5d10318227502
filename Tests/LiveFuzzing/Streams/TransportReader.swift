import TestSupport

/// A reader of a transport stream: complete packets, and counters without a gap that is not announced.
struct TransportReader: StreamReader {
    private static let packetSize = 188
    private static let videoPID: UInt16 = 0x100
    private static let tablePIDs: Set<UInt16> = [0, 0x1000]

    private var buffer: [UInt8] = []
    private var counters: [UInt16: UInt8] = [:]
    /// The current picture: its first packet, and its payloads so far.
    private var unit: (head: ParsedPacket, bytes: [UInt8])?
    /// The tables since the last picture began.
    private var tables: Set<UInt16> = []
    private var hasTables = false
    /// Whether the next picture must be a keyframe, because the stream has said that some are missing.
    private var awaitsKeyframe = false
    private(set) var gapsTold = 0
    /// Bytes of all packets so far.
    private var taken = 0
    private(set) var whole = 0

    /// A picture's end is known from the start of the next one, or from its length.
    var remainder: Int { buffer.count }

    mutating func take(_ bytes: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        buffer += bytes
        var begin = 0
        defer { buffer.removeFirst(begin) }
        while buffer.count - begin >= Self.packetSize {
            guard let packet = ParsedPacket(buffer[begin..<(begin + Self.packetSize)]) else {
                let bytes = buffer[begin..<(begin + 16)].map { String($0, radix: 16) }.joined(separator: " ")
                throw Fault("a transport packet that is none", bytes)
            }
            begin += Self.packetSize
            taken += Self.packetSize
            try count(packet)
            if packet.pid == Self.videoPID {
                try takeVideo(packet, see)
            } else {
                try expect(Self.tablePIDs.contains(packet.pid), "a transport packet of no program", "\(packet.pid)")
                if packet.payload != nil { tables.insert(packet.pid) }
            }
        }
    }

    private mutating func count(_ packet: ParsedPacket) throws(Fault) {
        defer { counters[packet.pid] = packet.continuity }
        if packet.isDiscontinuity {
            if packet.pid == Self.videoPID {
                gapsTold += 1
                awaitsKeyframe = true
            }
            return
        }
        guard let last = counters[packet.pid] else { return }
        let expected = (last + (packet.payload == nil ? 0 : 1)) & 0x0F
        try expect(
            packet.continuity == expected,
            "a gap in a transport stream that is not told",
            "PID \(packet.pid): \(packet.continuity) instead of \(expected)"
        )
    }

    private mutating func takeVideo(_ packet: ParsedPacket, _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        guard let payload = packet.payload else { return }
        guard packet.startsUnit else {
            guard unit != nil else { throw Fault("a transport stream that begins in a picture") }
            unit?.bytes += payload
            return try finishIfWhole(see)
        }
        try finish(see, at: taken - Self.packetSize)
        let isFirst = counters.count == 1 && tables.isEmpty
        try expect(!isFirst, "a transport stream that begins without tables")
        if packet.isRandomAccess {
            try expect(tables == Self.tablePIDs, "a keyframe without tables", "\(tables)")
        } else {
            try expect(!awaitsKeyframe, "an announced gap without a keyframe after it")
        }
        awaitsKeyframe = false
        hasTables = !tables.isEmpty
        tables = []
        unit = (packet, payload)
        try finishIfWhole(see)
    }

    /// Passes the picture on if its length shows that it is complete.
    private mutating func finishIfWhole(_ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        guard let unit, unit.bytes.count >= 6 else { return }
        let length = Int(unit.bytes[4..<6].number)
        guard length > 0, unit.bytes.count >= length + 6 else { return }
        try finish(see, at: taken)
    }

    private mutating func finish(_ see: (SeenPicture) throws(Fault) -> Void, at end: Int) throws(Fault) {
        guard let finished = unit else { return }
        (unit, whole) = (nil, end)
        guard let picture = ParsedPicture(finished.head, hasTables: hasTables, finished.bytes) else {
            throw Fault(
                "a PES packet that is not well formed",
                "\(finished.bytes.count) bytes: \(finished.bytes.prefix(32))"
            )
        }
        try see(SeenPicture(bytes: picture.bytes, isKey: picture.isRandomAccess))
    }
}
