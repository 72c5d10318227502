/// A fixed-length field inside a NAL unit.
package struct BitField: Equatable, Sendable {
    /// The position of its first bit, in the count of ``BitReader/position``.
    package var position: Int
    /// The number of bits, 1 to 32.
    package var width: Int

    package init(position: Int, width: Int) {
        self.position = position
        self.width = width
    }
}

/// The bytes with the value 3 that keep start codes out of NAL units (H.264 7.4.1, H.265 7.4.2.1).
package enum EmulationPrevention {
    /// Returns `payload` with an emulation prevention byte wherever three bytes would read as a start code.
    ///
    /// - Parameter head: Bytes to put before it, unchanged; the last one is not 0.
    package static func escaped(_ payload: some Collection<UInt8>, behind head: [UInt8] = []) -> [UInt8] {
        var escaped = head
        escaped.reserveCapacity(head.count &+ payload.count &+ 2)
        var zeros = 0
        for byte in payload { append(byte, to: &escaped, zeros: &zeros) }
        if zeros > 0 { escaped.append(3) }
        return escaped
    }

    /// Overwrites `fields` of the NAL unit at `unit` in `bytes`.
    ///
    /// Fields that do not lie inside the unit are left out.
    package static func overwrite(_ fields: [(BitField, value: Int)], inUnit unit: Range<Int>, of bytes: inout [UInt8])
    {
        let count = ((fields.map { $0.0.position &+ $0.0.width }.max() ?? 0) &+ 7) / 8
        let change = { (head: inout [UInt8]) in
            for (field, value) in fields { overwrite(field, with: value, in: &head) }
        }
        guard let (head, next) = rewritten(unit, of: bytes, payloadBytes: count, by: change) else { return }
        bytes.replaceSubrange(unit.lowerBound..<next, with: head)
    }

    /// Changes the start of the NAL unit at `unit` in `bytes`.
    ///
    /// Emulation prevention is redone only until both versions continue in the same way, which is at the next byte
    /// other than zero. The rest stays unchanged, but moves if a prevention byte is added or removed.
    ///
    /// - Parameters:
    ///   - count: The number of payload bytes to pass to `change`.
    ///   - change: Changes these bytes. It may also change their number.
    /// - Returns: The new start, and the place in `bytes` where the unchanged rest begins; `nil` if the payload is
    ///   shorter.
    package static func rewritten(
        _ unit: Range<Int>,
        of bytes: [UInt8],
        payloadBytes count: Int,
        by change: (inout [UInt8]) -> Void
    ) -> (head: [UInt8], next: Int)? {
        var payload: [UInt8] = []
        var (next, zeros) = (unit.lowerBound, 0)
        while payload.count < count,
            let byte = payloadByte(of: bytes, at: &next, before: unit.upperBound, zeros: &zeros)
        {
            payload.append(byte)
        }
        guard payload.count == count else { return nil }
        change(&payload)

        var head: [UInt8] = []
        var newZeros = 0
        for byte in payload { append(byte, to: &head, zeros: &newZeros) }
        while zeros != newZeros, let byte = payloadByte(of: bytes, at: &next, before: unit.upperBound, zeros: &zeros) {
            append(byte, to: &head, zeros: &newZeros)
        }
        return (head, next)
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

    /// Returns the payload byte at `next` and advances `next`; returns `nil` at the end.
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
