import Media
import NIOCore
import Packaging

/// scrcpy's packets, big-endian:
///
///      0 | bit 63: configuration, bit 62: keyframe, bits 0 to 61: PTS in µs (0 for configuration)
///      8 | size of what follows, u32
///     12 | Annex B bytes, or a packet of sound
///
/// A keyframe is two packets, configuration and picture, because scrcpy's readers expect parameter sets in a packet of
/// their own. Sound begins with a configuration, the identification header of Opus.
enum ScrcpyFraming {
    static let headerByteCount = 12
    private static let configurationFlag: UInt64 = 1 << 63
    private static let keyframeFlag: UInt64 = 1 << 62

    static func packets(of unit: MediaUnit, codec: Codec) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: unit.byteCount + 2 * headerByteCount)
        let pts = UInt64(bitPattern: unit.pts) & (keyframeFlag - 1)
        let head = unit.isKey ? pts | keyframeFlag : pts
        guard unit.isKey, let sets = ParameterSets(leading: unit.bytes, codec: codec)?.bytes else {
            append(unit.bytes, head: head, to: &buffer)
            return buffer
        }
        append(ByteBuffer(bytes: sets), head: configurationFlag, to: &buffer)
        append(picture(unit.bytes, without: sets, codec: codec), head: head, to: &buffer)
        return buffer
    }

    /// The packet before all sound.
    static func soundConfiguration(channels: UInt8) -> ByteBuffer {
        var buffer = ByteBuffer()
        let header = OggOpus.identification(channels: channels, preSkip: 0)
        append(ByteBuffer(bytes: header), head: configurationFlag, to: &buffer)
        return buffer
    }

    static func soundPacket(of unit: MediaUnit) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: unit.byteCount + headerByteCount)
        append(unit.bytes, head: UInt64(bitPattern: unit.pts) & (keyframeFlag - 1), to: &buffer)
        return buffer
    }

    private static func append(_ bytes: ByteBuffer, head: UInt64, to buffer: inout ByteBuffer) {
        buffer.writeInteger(head)
        buffer.writeInteger(UInt32(clamping: bytes.readableBytes))
        buffer.writeImmutableBuffer(bytes)
    }

    /// Returns the access unit without the parameter sets of ``ParameterSets/init(leading:codec:)``, which normally
    /// stand together at its head.
    private static func picture(_ bytes: ByteBuffer, without sets: [UInt8], codec: Codec) -> ByteBuffer {
        if bytes.readableBytesView.starts(with: sets) {
            var rest = bytes
            rest.removeLeading(sets.count)
            return rest
        }
        let all = Array(bytes.readableBytesView)
        var rest: [UInt8] = []
        var units = AnnexB.Units(all)
        while let unit = units.next() {
            let kind = all[in: unit.contents].first.map { NALUnitKind(header: $0, codec: codec) }
            if kind == .slice { return ByteBuffer(bytes: rest + all[from: unit.range.lowerBound]) }
            if kind?.isParameterSet != true { rest += all[in: unit.range] }
        }
        return ByteBuffer(bytes: rest)
    }
}
