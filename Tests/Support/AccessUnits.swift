package import Media

/// Streams of access units.
package enum AccessUnits {
    /// Splits a byte stream into access units of one picture each.
    ///
    /// A new one begins before the first slice of a picture, with the units between it and the previous slice (H.264
    /// 7.4.1.2.3, H.265 7.4.2.4.4).
    package static func split(_ stream: [UInt8], codec: Codec) -> [[UInt8]] {
        var starts: [Int] = []
        var pending: Int?
        for unit in AnnexB.units(in: stream) {
            guard isSlice(stream[unit.header], codec) else {
                if isSuffix(stream[unit.header], codec) == false { pending = pending ?? unit.range.lowerBound }
                continue
            }
            // first_mb_in_slice 0, or first_slice_segment_in_pic_flag: the first bit after the unit's header.
            let first = stream[unit.header + (codec == .h264 ? 1 : 2)] & 0x80 != 0
            if first { starts.append(pending ?? unit.range.lowerBound) }
            pending = nil
        }
        return zip(starts, starts.dropFirst() + [stream.count]).map { Array(stream[$0..<$1]) }
    }

    package static func isIDR(_ unit: [UInt8], codec: Codec) -> Bool {
        types(in: unit, codec: codec).contains { codec == .h264 ? $0 == 5 : $0 == 19 || $0 == 20 }
    }

    /// `nal_unit_type` of each unit.
    package static func types(in unit: [UInt8], codec: Codec) -> [Int] {
        AnnexB.units(in: unit).map { type(unit[$0.header], codec) }
    }

    private static func type(_ header: UInt8, _ codec: Codec) -> Int {
        Int(codec == .h264 ? header & 0x1F : header >> 1 & 0x3F)
    }

    private static func isSlice(_ header: UInt8, _ codec: Codec) -> Bool {
        codec == .h264 ? (1...5).contains(type(header, codec)) : type(header, codec) < 32
    }

    /// Filler data and H.265's suffix messages belong to the picture before them.
    private static func isSuffix(_ header: UInt8, _ codec: Codec) -> Bool {
        codec == .h264 ? type(header, codec) == 12 : [38, 40].contains(type(header, codec))
    }
}
