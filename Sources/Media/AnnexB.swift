/// The byte stream format of ITU-T H.264 and H.265, Annex B: NAL units that follow start codes.
package enum AnnexB {
    /// The most NAL units of an access unit.
    ///
    /// A picture has at most 600 slices (H.265, table A.8), H.264 has ids for 288 parameter sets, and delimiters and
    /// supplemental information are few.
    package static let maximumUnits = 1024

    /// The place of one NAL unit in a byte stream.
    package struct Unit: Equatable, Sendable {
        /// From the first byte of the start code (including the leading zero if it has four bytes) to the unit's end.
        package let range: Range<Int>
        /// The offset of the NAL unit header, the first byte after the start code.
        package let header: Int
        /// The unit's place without its start code. Empty if nothing follows the start code.
        package var contents: Range<Int> { min(header, range.upperBound)..<range.upperBound }

        /// Returns the unit's place without its start code and `trailing_zero_8bits`. These zeros belong to the byte
        /// stream, because no unit ends in zero.
        ///
        /// - Parameter bytes: The bytes that the unit was found in.
        package func unpaddedContents(in bytes: ByteReader) -> Range<Int> {
            var end = contents.upperBound
            while end > contents.lowerBound, bytes[at: end - 1] == 0 { end -= 1 }
            return contents.lowerBound..<end
        }

        package init(range: Range<Int>, header: Int) {
            self.range = range
            self.header = header
        }
    }

    /// The NAL units of a byte stream in stream order, found lazily. Bytes before the first start code belong to no
    /// unit.
    package struct Units<Bytes: MediaBytes>: Sequence, IteratorProtocol {
        private let bytes: Bytes
        private var upcoming: StartCode?

        package init(_ bytes: Bytes) {
            self.bytes = bytes
            upcoming = bytes.read { StartCode(in: $0.remaining, from: 0) }
        }

        /// The offset of the next unit's header, or the number of bytes if they end with a start code; `nil` after the
        /// last unit.
        ///
        /// It is known before the unit's end has been searched for.
        package var header: Int? { upcoming?.end }

        package mutating func next() -> Unit? {
            guard let current = upcoming else { return nil }
            upcoming = bytes.read { StartCode(in: $0.remaining, from: current.end) }
            return Unit(range: current.start..<(upcoming?.start ?? bytes.byteCount), header: current.end)
        }
    }

    private struct StartCode {
        /// The offset of the start code's first byte, including the leading zero if it has four bytes.
        let start: Int
        /// The offset after the start code's last byte.
        let end: Int

        /// Finds the first start code at or after `place`.
        init?(in bytes: UnsafeRawBufferPointer, from place: Int) {
            var index = place
            while index + 3 <= bytes.count {
                // A start code ends in 1, so a larger third byte rules out the next three positions at once.
                if bytes[index + 2] > 1 {
                    index += 3
                } else if bytes[index + 2] == 1, bytes[index + 1] == 0, bytes[index] == 0 {
                    start = index > 0 && bytes[index - 1] == 0 ? index - 1 : index
                    end = index + 3
                    return
                } else {
                    index += 1
                }
            }
            return nil
        }
    }

    /// Returns whether `bytes` start with a start code and a NAL unit header that the codec allows.
    ///
    /// H.264, 7.4.1: `forbidden_zero_bit` is 0, and the types 0 and 24 to 31 do not occur in the stream. H.265,
    /// 7.4.2.2: the same bit is 0, and `nuh_temporal_id_plus1` is not 0.
    package static func beginsWithUnit(_ bytes: some MediaBytes, codec: Codec) -> Bool {
        bytes.read { bytes in
            guard var unit = firstUnit(in: bytes), let header = unit.u8(), header & 0x80 == 0 else { return false }
            switch codec {
            case .h264: return (1...23).contains(header & 0x1F)
            case .h265: return unit.u8().map { $0 & 0x07 != 0 } ?? false
            }
        }
    }

    /// Returns what follows the leading start code, or `nil` if `bytes` do not begin with one.
    package static func firstUnit(in bytes: ByteReader) -> ByteReader? {
        var (rest, zeros) = (bytes, 0)
        while rest[at: 0] == 0 {
            rest.skip(1)
            zeros &+= 1
        }
        return zeros >= 2 && rest.u8() == 1 ? rest : nil
    }

    /// Returns whether `bytes` have more than ``maximumUnits`` start codes.
    package static func hasTooManyUnits(_ bytes: some MediaBytes) -> Bool {
        // Most access units are too short, because a start code has at least three bytes.
        guard bytes.byteCount / 3 > maximumUnits else { return false }
        var (units, count) = (Units(bytes), 0)
        while count <= maximumUnits, units.next() != nil { count &+= 1 }
        return count > maximumUnits
    }

    /// Returns all NAL units of `bytes`.
    package static func units(in bytes: some Collection<UInt8>) -> [Unit] { Array(Units(Array(bytes))) }
}

/// The parameter sets at the head of a keyframe.
package struct ParameterSets: Sendable, Equatable {
    /// The Annex B bytes of the parameter sets alone.
    package let bytes: [UInt8]

    /// Finds the leading parameter sets of `accessUnit`; returns `nil` if there are none.
    package init?(leading accessUnit: some MediaBytes, codec: Codec) {
        var collected: [UInt8] = []
        var units = AnnexB.Units(accessUnit)
        while let header = units.header.flatMap({ place in accessUnit.read { $0[at: place] } }) {
            let kind = NALUnitKind(header: header, codec: codec)
            guard kind != .slice, let unit = units.next() else { break }
            if kind.isParameterSet, !unit.contents.isEmpty {
                accessUnit.read { collected.append(contentsOf: $0[in: unit.range].remaining) }
            }
        }
        guard !collected.isEmpty else { return nil }
        bytes = collected
    }
}
