/// The byte stream format of ITU-T H.264 and H.265, Annex B: NAL units behind start codes.
package enum AnnexB {
    /// One NAL unit's place in a byte stream.
    package struct Unit: Equatable, Sendable {
        /// From the first byte of the start code (its leading zero included, where it has four bytes) to the unit's end.
        package let range: Range<Int>
        /// Offset of the NAL unit header, the first byte behind the start code.
        package let header: Int

        package init(range: Range<Int>, header: Int) {
            self.range = range
            self.header = header
        }
    }

    /// The NAL units of `bytes` in stream order. Bytes before the first start code belong to none.
    ///
    /// - Parameter isEnd: Whether the unit of that first header byte, and what follows, is not wanted: a picture is not gone through then for the little
    ///   that stands before it.
    package static func units(
        in bytes: some RandomAccessCollection<UInt8>,
        before isEnd: (_ header: UInt8) -> Bool = { _ in false }
    ) -> [Unit] {
        let found = bytes.withContiguousStorageIfAvailable { units(inContiguous: $0, before: isEnd) }
        return found ?? Array(bytes).withUnsafeBufferPointer { units(inContiguous: $0, before: isEnd) }
    }

    private static func units(inContiguous bytes: UnsafeBufferPointer<UInt8>, before isEnd: (UInt8) -> Bool) -> [Unit] {
        var units: [Unit] = []
        /// Where the unit that has begun begins.
        var begun: (start: Int, header: Int)?
        var index = 0
        while index + 3 <= bytes.count {
            // A start code ends in 1: a larger third byte rules out the next three positions at once.
            if bytes[index + 2] > 1 {
                index += 3
            } else if bytes[index + 2] == 1, bytes[index + 1] == 0, bytes[index] == 0 {
                let start = index > 0 && bytes[index - 1] == 0 ? index - 1 : index
                if let begun { units.append(Unit(range: begun.start..<start, header: begun.header)) }
                index += 3
                if index < bytes.count, isEnd(bytes[index]) { return units }
                begun = (start, index)
            } else {
                index += 1
            }
        }
        if let begun { units.append(Unit(range: begun.start..<bytes.count, header: begun.header)) }
        return units
    }
}

/// The parameter sets at the head of a keyframe.
package struct ParameterSets: Sendable, Equatable {
    /// Annex B bytes of the parameter sets alone.
    package let bytes: [UInt8]

    /// The leading parameter sets of `accessUnit`, nil when it has none.
    package init?(leading accessUnit: some RandomAccessCollection<UInt8>, codec: Codec) {
        let accessUnit = Array(accessUnit)
        var collected: [UInt8] = []
        let leading = AnnexB.units(in: accessUnit) { NALUnitKind(header: $0, codec: codec) == .slice }
        for unit in leading where unit.header < unit.range.upperBound {
            if NALUnitKind(header: accessUnit[unit.header], codec: codec).isParameterSet {
                collected += accessUnit[unit.range]
            }
        }
        guard !collected.isEmpty else { return nil }
        bytes = collected
    }
}
