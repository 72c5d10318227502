/// A fixed-length field inside a NAL unit.
package struct BitField: Equatable, Sendable {
    /// Of its first bit, counted as ``BitReader/position`` counts.
    package var position: Int
    /// Bits, 1 to 32.
    package var width: Int

    package init(position: Int, width: Int) {
        self.position = position
        self.width = width
    }
}

/// The bytes 3 that keep start codes out of NAL units (H.264 7.4.1, H.265 7.4.2.1).
package enum EmulationPrevention {
    /// `payload` with an emulation prevention byte wherever three bytes would read as a start code.
    ///
    /// - Parameter head: Bytes that come before it as they are; the last is not 0.
    package static func escaped(_ payload: some Collection<UInt8>, behind head: [UInt8] = []) -> [UInt8] {
        var escaped = head
        escaped.reserveCapacity(head.count &+ payload.count &+ 2)
        var zeros = 0
        for byte in payload { append(byte, to: &escaped, zeros: &zeros) }
        if zeros > 0 { escaped.append(3) }
        return escaped
    }

    /// Overwrites `fields` of the NAL unit that `unit` bounds in `bytes`.
    ///
    /// Emulation prevention is redone from the unit's head on until both versions go on alike, which is where the first byte other
    /// than zero follows the last field: the rest is not touched. Where a prevention byte comes or goes, what follows moves.
    /// Fields that do not lie inside the unit are left out.
    package static func overwrite(_ fields: [(BitField, value: Int)], inUnit unit: Range<Int>, of bytes: inout [UInt8])
    {
        let headCount = ((fields.map { $0.0.position &+ $0.0.width }.max() ?? 0) &+ 7) / 8
        var head: [UInt8] = []
        var (next, zeros) = (unit.lowerBound, 0)
        while head.count < headCount,
            let byte = payloadByte(of: bytes, at: &next, before: unit.upperBound, zeros: &zeros)
        {
            head.append(byte)
        }
        guard head.count == headCount else { return }
        for (field, value) in fields { overwrite(field, with: value, in: &head) }

        var replacement: [UInt8] = []
        var newZeros = 0
        for byte in head { append(byte, to: &replacement, zeros: &newZeros) }
        while zeros != newZeros, let byte = payloadByte(of: bytes, at: &next, before: unit.upperBound, zeros: &zeros) {
            append(byte, to: &replacement, zeros: &newZeros)
        }
        bytes.replaceSubrange(unit.lowerBound..<next, with: replacement)
    }

    private static func overwrite(_ field: BitField, with value: Int, in payload: inout [UInt8]) {
        for place in stride(from: 0, to: field.width, by: 1) {
            let position = field.position &+ place
            let mask = UInt8(0x80) >> (position & 7)
            let isSet = value >> (field.width &- 1 &- place) & 1 == 1
            guard let byte = payload[at: position >> 3] else { return }
            payload[at: position >> 3] = isSet ? byte | mask : byte & ~mask
        }
    }

    private static func append(_ byte: UInt8, to escaped: inout [UInt8], zeros: inout Int) {
        if zeros >= 2, byte <= 3 {
            escaped.append(3)
            zeros = 0
        }
        escaped.append(byte)
        zeros = byte == 0 ? zeros &+ 1 : 0
    }

    /// The payload byte at `next`, which moves behind it; nil at the end.
    private static func payloadByte(of bytes: [UInt8], at next: inout Int, before end: Int, zeros: inout Int) -> UInt8?
    {
        if zeros >= 2, next < end, bytes[at: next] == 3 {
            next &+= 1
            zeros = 0
        }
        guard next < end, let byte = bytes[at: next] else { return nil }
        zeros = byte == 0 ? zeros &+ 1 : 0
        next &+= 1
        return byte
    }
}
