import Media
import NIOCore

/// scrcpy's packets, big-endian:
///
///      0 | bit 63: configuration, bit 62: keyframe, bits 0 to 61: PTS in µs (0 for configuration)
///      8 | size of what follows, u32
///     12 | Annex B bytes
///
/// A keyframe is two packets, since scrcpy's readers expect parameter sets in a packet of their own: configuration, picture.
enum ScrcpyFraming {
    static let headerByteCount = 12
    private static let configurationFlag: UInt64 = 1 << 63
    private static let keyframeFlag: UInt64 = 1 << 62

    static func packets(of accessUnit: AccessUnit, codec: Codec) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: accessUnit.bytes.count + 2 * headerByteCount)
        let pts = UInt64(bitPattern: accessUnit.pts) & (keyframeFlag - 1)
        guard accessUnit.isKey else {
            append(accessUnit.bytes[...], head: pts, to: &buffer)
            return buffer
        }
        guard let sets = ParameterSets(leading: accessUnit.bytes, codec: codec) else {
            append(accessUnit.bytes[...], head: pts | keyframeFlag, to: &buffer)
            return buffer
        }
        append(sets.bytes[...], head: configurationFlag, to: &buffer)
        append(picture(accessUnit.bytes, without: sets, codec: codec), head: pts | keyframeFlag, to: &buffer)
        return buffer
    }

    private static func append(_ bytes: ArraySlice<UInt8>, head: UInt64, to buffer: inout ByteBuffer) {
        buffer.writeInteger(head)
        buffer.writeInteger(UInt32(clamping: bytes.count))
        buffer.writeBytes(bytes)
    }

    /// Returns the access unit without ``ParameterSets/init(leading:codec:)``'s, which normally stand together at its head.
    private static func picture(_ bytes: [UInt8], without sets: ParameterSets, codec: Codec) -> ArraySlice<UInt8> {
        if bytes.starts(with: sets.bytes) { return bytes.dropFirst(sets.bytes.count) }
        var rest: [UInt8] = []
        var units = AnnexB.Units(bytes)
        while let unit = units.next() {
            let kind = bytes[in: unit.contents].first.map { NALUnitKind(header: $0, codec: codec) }
            if kind == .slice { return rest + bytes[from: unit.range.lowerBound] }
            if kind?.isParameterSet != true { rest += bytes[in: unit.range] }
        }
        return rest[...]
    }
}
