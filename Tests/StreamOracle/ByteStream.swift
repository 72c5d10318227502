package import Media

/// The byte stream format: annex B of ITU-T H.264 and of H.265.
package enum ByteStream {
    private struct Unit {
        /// With its start code and the zeros before it.
        let begin: Int
        /// Without its start code and the zeros after it.
        let contents: Range<Int>
    }

    /// The NAL units of a stream, without start codes and the zeros between units.
    package static func units(in stream: [UInt8]) -> [[UInt8]] {
        scan(stream).map { Array(stream[$0.contents]) }
    }

    /// The access units of a stream, byte by byte.
    ///
    /// An access unit begins at the first slice of a picture, or at the parameter sets, messages and delimiters before
    /// that slice (H.264 7.4.1.2.3, H.265 7.4.2.4.4).
    package static func accessUnits(in stream: [UInt8], codec: Codec) -> [[UInt8]] {
        var starts: [Int] = []
        var pending: Int?
        for unit in scan(stream) {
            guard codec.isSlice(stream[unit.contents.lowerBound]) else {
                if !codec.isSuffix(stream[unit.contents.lowerBound]) { pending = pending ?? unit.begin }
                continue
            }
            // first_mb_in_slice 0 is written as one bit 1, as is first_slice_segment_in_pic_flag.
            let place = unit.contents.lowerBound + codec.headerBytes
            let isFirst = place < unit.contents.upperBound && stream[place] & 0x80 != 0
            if isFirst { starts.append(pending ?? unit.begin) }
            pending = nil
        }
        return zip(starts, starts.dropFirst() + [stream.count]).map { Array(stream[$0..<$1]) }
    }

    /// Joins NAL units to a stream.
    package static func joined(_ units: [[UInt8]]) -> [UInt8] { units.flatMap { [0, 0, 0, 1] + $0 } }

    private static func scan(_ stream: [UInt8]) -> [Unit] {
        var codes: [Int] = []
        var place = 0
        while place + 3 <= stream.count {
            if stream[place + 2] > 1 {
                place += 3
            } else if stream[place] == 0, stream[place + 1] == 0, stream[place + 2] == 1 {
                codes.append(place)
                place += 3
            } else {
                place += 1
            }
        }
        var begin = 0
        return zip(codes, codes.dropFirst() + [stream.count]).compactMap { code, next in
            var end = next
            // No unit ends in a zero byte.
            while end > code + 3, stream[end - 1] == 0 { end -= 1 }
            defer { begin = end }
            return end > code + 3 ? Unit(begin: begin, contents: (code + 3)..<end) : nil
        }
    }
}

extension Codec {
    /// How many bytes the header of a NAL unit has.
    var headerBytes: Int { self == .h264 ? 1 : 2 }

    /// `nal_unit_type`, by the unit's first byte.
    func unitType(_ header: UInt8) -> Int { Int(self == .h264 ? header & 0x1F : header >> 1 & 0x3F) }

    func isSlice(_ header: UInt8) -> Bool {
        self == .h264 ? (1...5).contains(unitType(header)) : unitType(header) < 32
    }

    /// Whether a unit belongs to the picture before it: filler data, and H.265's suffix messages.
    func isSuffix(_ header: UInt8) -> Bool {
        self == .h264 ? unitType(header) == 12 : [38, 40].contains(unitType(header))
    }

    func isDelimiter(_ header: UInt8) -> Bool { unitType(header) == (self == .h264 ? 9 : 35) }

    func isParameterSet(_ header: UInt8) -> Bool {
        self == .h264 ? [7, 8].contains(unitType(header)) : (32...34).contains(unitType(header))
    }

    /// Whether a unit is a slice of an IDR picture.
    func isIDR(_ header: UInt8) -> Bool { self == .h264 ? unitType(header) == 5 : [19, 20].contains(unitType(header)) }
}
