import Media

/// The bytes of an access unit, and their properties.
struct MadeUnit {
    private static let mostStartCodes = 1024

    private let codec: Codec
    let bytes: [UInt8]
    /// Whether it is sent as a keyframe.
    let isKey: Bool
    /// Whether no viewer may get it, because it does not begin with a start code and a NAL unit header, or has too many
    /// NAL units (docs/reference/wire.md).
    let isBroken: Bool
    /// The position of its number; `nil` if the bytes have none.
    let marker: Marker.Place?
    /// Whether a decoder can read it after the ones before it.
    var isReal = false

    init(_ bytes: [UInt8], isKey: Bool, codec: Codec) {
        self.codec = codec
        self.bytes = bytes
        self.isKey = isKey
        isBroken = !Self.beginsWithUnit(bytes, codec: codec) || Self.startCodes(in: bytes) > Self.mostStartCodes
        marker = Marker.find(in: bytes)
    }

    /// What the relay makes of it directly after a keyframe with the same `idr_pic_id`; `nil` if the relay does not
    /// change it.
    var changed: [UInt8]? {
        guard codec == .h264, isKey else { return nil }
        return H264KeyframeID(of: bytes)?.changed(in: bytes)
    }

    private static func startCodes(in bytes: [UInt8]) -> Int {
        var (count, zeros) = (0, 0)
        for byte in bytes {
            if byte == 1, zeros >= 2 { count += 1 }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return count
    }

    /// H.264 and H.265, 7.3.1: `forbidden_zero_bit`, a type that streams have, and `nuh_temporal_id_plus1`, which is
    /// not 0. Annex B: zeros before the first start code belong to the stream.
    private static func beginsWithUnit(_ bytes: [UInt8], codec: Codec) -> Bool {
        guard let one = bytes.firstIndex(where: { $0 != 0 }), one >= 2, bytes[one] == 1, one + 1 < bytes.count else {
            return false
        }
        let header = bytes[one + 1]
        guard header < 0x80 else { return false }
        switch codec {
        case .h264: return (1...23).contains(header % 32)
        case .h265: return one + 2 < bytes.count && bytes[one + 2] % 8 != 0
        }
    }
}
