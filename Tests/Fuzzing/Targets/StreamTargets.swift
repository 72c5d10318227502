import Media

extension FuzzTarget {
    private static let startCodes = ["\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{3}"]

    /// The byte stream format.
    static let annexB = FuzzTarget("annexb", words: startCodes) { input in
        let units = AnnexB.units(in: input)
        try require(units == plainUnits(in: input), "\(units)")
        for codec in Codec.allCases { _ = ParameterSets(leading: input, codec: codec) }
        let escaped = EmulationPrevention.escaped(input)
        try require(AnnexB.units(in: escaped).isEmpty, "a start code in \(escaped)")
        var reader = BitReader(escaped[...])
        for byte in input { try require(try reader.u(8) == byte, "another byte than \(byte)") }
    }

    /// A simple and slow version of ``AnnexB/units(in:)``.
    private static func plainUnits(in bytes: [UInt8]) -> [AnnexB.Unit] {
        var heads: [(start: Int, header: Int)] = []
        for place in bytes.indices.dropLast(2) where bytes[place...].starts(with: [0, 0, 1]) {
            heads.append((place > 0 && bytes[place - 1] == 0 ? place - 1 : place, place + 3))
        }
        return heads.indices.map { number in
            let end = number + 1 < heads.count ? heads[number + 1].start : bytes.count
            return AnnexB.Unit(range: heads[number].start..<end, header: heads[number].header)
        }
    }

    /// Parameter sets and slice headers of H.264 and H.265, in streams with repeats.
    static let h264 = FuzzTarget("h264", words: startCodes) { try checkRepeats(of: .h264, $0) }
    static let h265 = FuzzTarget("h265", words: startCodes) { try checkRepeats(of: .h265, $0) }

    private static func checkRepeats(of codec: Codec, _ input: [UInt8]) throws {
        var choices = Choices(input)
        var stream = RepeatableStream(codec: codec)
        var keyframe: [UInt8]?
        while !choices.isEmpty {
            switch choices.byte() & 3 {
            case 0, 1:
                let unit = choices.piece()
                if codec == .h264 { try checkKeyframeID(of: unit) }
                keyframe = try refusable { try stream.live(unit) }
                if let sent = keyframe {
                    // Each slice's numbers may need some more bytes of emulation prevention, and a keyframe gets an
                    // additional parameter set.
                    let units = AnnexB.units(in: unit).count
                    try require(sent.count <= unit.count + 16 * units + 64, "\(unit.count) bytes become \(sent.count)")
                }
            case 2:
                _ = stream.skip()
                _ = stream.resendKeyframe()
            default:
                stream.follow(inserted: Int(choices.byte()), keyframeWasResent: stream.resendKeyframe() != nil)
            }
            if stream.isResumable, let keyframe {
                var other = try RepeatableStream(codec: codec, resumingAt: keyframe)
                var same = stream
                for _ in 0..<3 { try require(other.skip() == same.skip(), "who goes on makes another picture") }
                try require(other.resendKeyframe() == keyframe, "who goes on has another keyframe")
            }
        }
    }

    /// A keyframe's number can be changed, and nothing moves by more than the longer code and emulation prevention
    /// require.
    private static func checkKeyframeID(of picture: [UInt8]) throws {
        guard let id = H264KeyframeID(of: picture) else { return }
        let changed = id.changed(in: picture)
        try require(id.value == 65_535 || H264KeyframeID(of: changed)?.value != id.value, "\(id.value) stays")
        let units = AnnexB.units(in: picture).count
        try require(changed.count <= picture.count + 16 * units, "\(picture.count) bytes become \(changed.count)")
    }
}
