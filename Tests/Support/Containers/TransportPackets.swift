/// One packet of a transport stream, parsed without any code of the writer's.
package struct ParsedPacket {
    package let pid: UInt16
    package let startsUnit: Bool
    package let continuity: UInt8
    /// The adaptation field after its length byte; `nil` if there is none.
    package let adaptation: [UInt8]?
    /// `nil` if there is none; a payload may also be empty.
    package let payload: [UInt8]?

    /// Returns `nil` if the packet is not well formed.
    package init?(_ bytes: ArraySlice<UInt8>) {
        let bytes = Array(bytes)
        // Synchronization byte; neither error, priority nor scrambling.
        guard bytes.count == 188, bytes[0] == 0x47, bytes[1] & 0xA0 == 0, bytes[3] & 0xC0 == 0 else { return nil }
        startsUnit = bytes[1] & 0x40 != 0
        pid = UInt16(bytes[1] & 0x1F) << 8 | UInt16(bytes[2])
        continuity = bytes[3] & 0x0F
        var place = 4
        if bytes[3] & 0x20 != 0 {
            let end = 5 + Int(bytes[4])
            guard end <= 188 else { return nil }
            adaptation = Array(bytes[5..<end])
            place = end
        } else {
            adaptation = nil
        }
        guard bytes[3] & 0x10 != 0 else {
            // Without payload the field fills the packet.
            guard adaptation?.count == 183 else { return nil }
            payload = nil
            return
        }
        guard place < 188 else { return nil }
        payload = Array(bytes[place...])
    }

    /// Returns the packets that make up `bytes`, or `nil` if one is not well formed.
    package static func packets(_ bytes: [UInt8]) -> [ParsedPacket]? {
        guard bytes.count % 188 == 0 else { return nil }
        let packets = stride(from: 0, to: bytes.count, by: 188).map { ParsedPacket(bytes[$0..<($0 + 188)]) }
        return packets.contains { $0 == nil } ? nil : packets.compactMap(\.self)
    }

    package var isDiscontinuity: Bool { adaptation?.first.map { $0 & 0x80 != 0 } ?? false }
    package var isRandomAccess: Bool { adaptation?.first.map { $0 & 0x40 != 0 } ?? false }

    /// The program clock in 27 MHz ticks.
    package var clock: UInt64? {
        guard let adaptation, adaptation.count >= 7, adaptation[0] & 0x10 != 0 else { return nil }
        let bits = adaptation[1..<7].number
        return (bits >> 15) * 300 + (bits & 0x1FF)
    }

    /// The section in this packet, with its checksum.
    package var section: [UInt8]? {
        guard let payload, startsUnit, payload.count > 4 else { return nil }
        let start = 1 + Int(payload[0])
        let length = Int(payload[(start + 1)...(start + 2)].number & 0xFFF)
        return Array(payload[start..<(start + 3 + length)])
    }
}

/// A picture of a transport stream.
package struct ParsedPicture {
    package let presentation: UInt64
    package let clock: UInt64?
    package let isRandomAccess: Bool
    /// Whether the program's tables stand right before it.
    package let hasTables: Bool
    /// `PES_packet_length`.
    package let length: Int
    package let bytes: [UInt8]

    /// Returns the pictures in the packets of a stream, or `nil` if anything violates the standard.
    package static func pictures(_ bytes: [UInt8]) -> [ParsedPicture]? {
        guard let packets = ParsedPacket.packets(bytes) else { return nil }
        var continuity: [UInt16: UInt8] = [:]
        var units: [(head: ParsedPacket, hasTables: Bool, bytes: [UInt8])] = []
        var tables = 0
        for packet in packets {
            let step: UInt8 = packet.payload == nil ? 0 : 1
            if let last = continuity[packet.pid], !packet.isDiscontinuity, packet.continuity != (last + step) & 0x0F {
                return nil
            }
            continuity[packet.pid] = packet.continuity
            guard packet.pid == 0x100 else {
                tables += 1
                continue
            }
            guard let payload = packet.payload else { continue }
            if packet.startsUnit {
                units.append((packet, tables == 2, payload))
                tables = 0
            } else {
                guard !units.isEmpty, tables == 0 else { return nil }
                units[units.count - 1].bytes += payload
            }
        }
        let pictures = units.map { ParsedPicture($0.head, hasTables: $0.hasTables, $0.bytes) }
        return pictures.contains { $0 == nil } ? nil : pictures.compactMap(\.self)
    }

    /// - Parameter unit: The payloads from `head` on: one PES packet.
    package init?(_ head: ParsedPacket, hasTables: Bool, _ unit: [UInt8]) {
        // Start code and stream id; alignment; PTS alone, of five bytes.
        guard unit.count > 14, Array(unit[0..<4]) == [0, 0, 1, 0xE0], Array(unit[6..<9]) == [0x84, 0x80, 5],
            unit[9] & 0xF1 == 0x21, unit[11] & 1 == 1, unit[13] & 1 == 1
        else { return nil }
        length = Int(unit[4..<6].number)
        guard length == 0 || length == unit.count - 6 else { return nil }
        let high = UInt64(unit[9] >> 1 & 7) << 30
        presentation = high | (unit[10..<12].number >> 1) << 15 | unit[12..<14].number >> 1
        clock = head.clock
        isRandomAccess = head.isRandomAccess
        self.hasTables = hasTables
        bytes = Array(unit[14...])
    }
}
