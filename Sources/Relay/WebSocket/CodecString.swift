import Media

extension ParameterSets {
    /// The codec as browsers are asked for it (RFC 6381, section 3.3; ISO/IEC 14496-15, annex E): `avc1.42C01F`, `hev1.1.6.L93.90`.
    ///
    /// Nil when there is no sequence parameter set, or one that is too short.
    func codecString(_ codec: Codec) -> String? {
        for unit in AnnexB.units(in: bytes) where unit.header < unit.range.upperBound {
            let header = bytes[unit.header]
            switch codec {
            case .h264 where header & 0x1F == 7: return avcString(bytes[unit.header..<unit.range.upperBound])
            case .h265 where (header >> 1) & 0x3F == 33: return hevcString(bytes[unit.header..<unit.range.upperBound])
            default: continue
            }
        }
        return nil
    }

    /// profile_idc, the constraint flags and level_idc, which follow the NAL unit's header (H.264, 7.3.2.1.1).
    private func avcString(_ unit: ArraySlice<UInt8>) -> String? {
        let fields = unit.dropFirst().prefix(3)
        guard fields.count == 3 else { return nil }
        return "avc1." + fields.map { hexadecimal($0, digits: 2) }.joined()
    }

    /// profile_tier_level() (H.265, 7.3.3): it begins at the fourth byte of the unit and has twelve.
    private func hevcString(_ unit: ArraySlice<UInt8>) -> String? {
        let fields = Array(EmulationPrevention.payload(of: unit).dropFirst(3).prefix(12))
        guard fields.count == 12 else { return nil }
        let space = ["", "A", "B", "C"][Int(fields[0] >> 6)]
        let tier = fields[0] & 0x20 == 0 ? "L" : "H"
        let compatibility = fields[1...4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }.bitsReversed
        var parts = [
            "hev1", "\(space)\(fields[0] & 0x1F)", String(compatibility, radix: 16, uppercase: true),
            "\(tier)\(fields[11])",
        ]
        // Constraint flags, without the zero bytes at their end.
        var constraints = fields[5...10]
        while constraints.last == 0 { constraints.removeLast() }
        parts += constraints.map { String($0, radix: 16, uppercase: true) }
        return parts.joined(separator: ".")
    }

    private func hexadecimal(_ byte: UInt8, digits: Int) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}

extension UInt32 {
    fileprivate var bitsReversed: UInt32 {
        (0..<32).reduce(0) { $0 << 1 | (self >> UInt32($1) & 1) }
    }
}

extension EmulationPrevention {
    /// The bytes of `unit` without those that only keep start codes out.
    fileprivate static func payload(of unit: some Sequence<UInt8>) -> [UInt8] {
        var (payload, zeros): ([UInt8], Int) = ([], 0)
        for byte in unit {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            payload.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return payload
    }
}
