package import Media

/// The string by which players and browsers identify a codec (RFC 6381, section 3.3; ISO/IEC 14496-15, annex E).
package enum CodecString {
    /// Returns the string for pictures with in-band parameter sets: `avc3.42C01F`, `hev1.1.6.L93.90`.
    ///
    /// Returns `nil` if there is no sequence parameter set, or if it ends before its level.
    package static func inBand(_ sets: ParameterSets, codec: Codec) -> String? {
        let units = AnnexB.units(in: sets.bytes).lazy.map { sets.bytes[in: $0.contents] }
        guard
            let set = units.first(where: {
                $0.first.map { NALUnitKind(header: $0, codec: codec) } == .sequenceParameterSet
            })
        else { return nil }
        switch codec {
        case .h264:
            // profile_idc, the constraint flags and level_idc follow the unit's header (H.264, 7.3.2.1.1).
            var fields = set.dropFirst()
            guard let profile = fields.popFirst(), let constraints = fields.popFirst(), let level = fields.popFirst()
            else { return nil }
            return h264("avc3", profile: profile, constraints: constraints, level: level)
        case .h265: return (try? H265ProfileTierLevel(sequenceParameterSet: set)).map { h265("hev1", $0) }
        }
    }

    /// Returns the sample entry's type, followed by profile, constraint flags and level in hexadecimal.
    static func h264(_ type: String, profile: UInt8, constraints: UInt8, level: UInt8) -> String {
        let digits = [profile, constraints, level].map { byte in "\(byte < 16 ? "0" : "")\(hexadecimal(byte))" }
        return "\(type)." + digits.joined()
    }

    /// Returns the sample entry's type, followed by profile, compatibility flags from the last to the first, tier and
    /// level, and the constraint bytes up to the last one that is not zero.
    static func h265(_ type: String, _ profile: H265ProfileTierLevel) -> String {
        let space = ["", "A", "B", "C"][at: Int(clamping: profile.space)] ?? ""
        var parts = [type, "\(space)\(profile.profile)", hexadecimal(profile.compatibility.bitReversed)]
        parts.append("\(profile.isHighTier ? "H" : "L")\(profile.level)")
        var constraints = (0..<6).map { UInt8(truncatingIfNeeded: profile.constraints >> (40 &- 8 &* $0)) }
        while constraints.last == 0 { _ = constraints.popLast() }
        parts.append(contentsOf: constraints.map(hexadecimal))
        return parts.joined(separator: ".")
    }

    private static func hexadecimal(_ number: some BinaryInteger) -> String {
        String(number, radix: 16, uppercase: true)
    }
}

extension UInt32 {
    fileprivate var bitReversed: UInt32 {
        (0..<32).reduce(0) { $0 << 1 | self >> $1 & 1 }
    }
}
