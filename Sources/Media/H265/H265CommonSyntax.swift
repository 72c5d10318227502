/// Syntax structures that several H.265 parameter sets share and that repeats do not depend on.
enum H265CommonSyntax {
    /// `sub_layer_ordering_info_present_flag` and what it governs, in 7.3.2.1 and 7.3.2.2.1.
    static func skipSubLayerOrdering(_ reader: inout BitReader, subLayers: Int) throws(BitstreamError) {
        try reader.skipCodes(3 &* (try reader.flag() ? subLayers : 1))
    }

    /// `scaling_list_data( )` of 7.3.4.
    static func skipScalingLists(_ reader: inout BitReader) throws(BitstreamError) {
        for size in 0..<4 {
            for _ in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
                guard try reader.flag() else {
                    try reader.skipCodes()
                    continue
                }
                if size > 1 { try reader.skipCodes() }
                try reader.skipCodes(min(64, 16 << (2 &* size)))
            }
        }
    }

    /// The flags of the extensions behind `sps_extension_present_flag` and `pps_extension_present_flag`: whether one of them is for
    /// layers, 3D, screen content or unknown. The range extension changes nothing for pictures without residual.
    static func readExtensions(_ reader: inout BitReader) throws(BitstreamError) -> Bool {
        guard try reader.flag() else { return false }
        // The first of the eight is the range extension's.
        return try reader.u(8) & 0x7F != 0
    }
}
