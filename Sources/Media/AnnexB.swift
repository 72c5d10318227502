/// The byte stream format of ITU-T H.264 and H.265, Annex B: NAL units behind start codes.
package enum AnnexB {
    /// Most NAL units of an access unit. A picture has at most 600 slices (H.265, table A.8), H.264 has ids for 288 parameter sets, and
    /// delimiters and supplemental information are few.
    package static let maximumUnits = 1024

    /// One NAL unit's place in a byte stream.
    package struct Unit: Equatable, Sendable {
        /// From the first byte of the start code (its leading zero included, where it has four bytes) to the unit's end.
        package let range: Range<Int>
        /// Offset of the NAL unit header, the first byte behind the start code.
        package let header: Int
        /// The unit's place without its start code. It is empty where a start code has nothing behind it.
        package var contents: Range<Int> { min(header, range.upperBound)..<range.upperBound }

        /// The unit's place without its start code and `trailing_zero_8bits`, which belong to the byte stream: no unit ends in zero.
        ///
        /// - Parameter bytes: Those that the unit was found in.
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

    /// The NAL units of a byte stream in stream order, found as they are asked for. Bytes before the first start code belong to none.
    package struct Units<Bytes: MediaBytes>: Sequence, IteratorProtocol {
        private let bytes: Bytes
        private var upcoming: StartCode?

        package init(_ bytes: Bytes) {
            self.bytes = bytes
            upcoming = bytes.read { StartCode(in: $0.remaining, from: 0) }
        }

        /// Offset of the header of the unit that is next; the number of bytes where they end with a start code. Nil behind the last unit.
        ///
        /// To find where that unit ends it has to be gone through.
        package var header: Int? { upcoming?.end }

        package mutating func next() -> Unit? {
            guard let current = upcoming else { return nil }
            upcoming = bytes.read { StartCode(in: $0.remaining, from: current.end) }
            return Unit(range: current.start..<(upcoming?.start ?? bytes.byteCount), header: current.end)
        }
    }

    private struct StartCode {
        /// Offset of its first byte, the leading zero included where it has four.
        let start: Int
        /// Offset behind its last byte.
        let end: Int

        /// The first one that begins at `place` or behind it.
        init?(in bytes: UnsafeRawBufferPointer, from place: Int) {
            var index = place
            while index + 3 <= bytes.count {
                // It ends in 1: a larger third byte rules out the next three positions at once.
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

    /// Returns whether `bytes` begin with a start code and the header of a NAL unit that their codec has.
    ///
    /// H.264, 7.4.1: `forbidden_zero_bit` is 0, and the types 0 and 24 to 31 are no part of the stream. H.265, 7.4.2.2: the same bit is 0,
    /// and `nuh_temporal_id_plus1` is not.
    package static func beginsWithUnit(_ bytes: some MediaBytes, codec: Codec) -> Bool {
        bytes.read { bytes in
            guard var unit = firstUnit(in: bytes), let header = unit.u8(), header & 0x80 == 0 else { return false }
            switch codec {
            case .h264: return (1...23).contains(header & 0x1F)
            case .h265: return unit.u8().map { $0 & 0x07 != 0 } ?? false
            }
        }
    }

    /// Returns what follows the start code that `bytes` begin with, or `nil` if they do not.
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
        // Most access units are too short for that: no start code has fewer than three bytes.
        guard bytes.byteCount / 3 > maximumUnits else { return false }
        var (units, count) = (Units(bytes), 0)
        while count <= maximumUnits, units.next() != nil { count &+= 1 }
        return count > maximumUnits
    }

    /// All NAL units of `bytes`.
    package static func units(in bytes: some Collection<UInt8>) -> [Unit] { Array(Units(Array(bytes))) }
}

/// The parameter sets at the head of a keyframe.
package struct ParameterSets: Sendable, Equatable {
    /// Annex B bytes of the parameter sets alone.
    package let bytes: [UInt8]

    /// The leading parameter sets of `accessUnit`, nil when it has none.
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
