/// Syntax structures that several H.265 parameter sets share and that repeats do not depend on.
enum H265CommonSyntax {
    /// Skips `sub_layer_ordering_info_present_flag` and the fields that it governs, in 7.3.2.1 and 7.3.2.2.1.
    static func skipSubLayerOrdering(_ reader: inout BitReader, subLayers: Int) throws(BitstreamError) {
        try reader.skipCodes(3 &* (try reader.flag() ? subLayers : 1))
    }

    /// Skips `scaling_list_data( )` of 7.3.4.
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

    /// Reads the extension flags after `sps_extension_present_flag` and `pps_extension_present_flag`.
    ///
    /// The range extension does not matter, because it changes nothing for pictures without residual.
    ///
    /// - Returns: Whether there is an extension for layers, 3D or screen content, or an unknown one.
    static func readExtensions(_ reader: inout BitReader) throws(BitstreamError) -> Bool {
        guard try reader.flag() else { return false }
        // The first of the eight flags is for the range extension.
        return try reader.u(8) & 0x7F != 0
    }
}
