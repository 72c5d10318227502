/// An H.265 video parameter set, `video_parameter_set_rbsp( )` of 7.3.2.1: the field that repeats depend on.
package struct H265VideoParameterSet: Sendable, Equatable {
    /// Whether it carries HRD parameters.
    package let timesPictures: Bool

    /// - Parameter unit: The NAL unit, starting at its header.
    package init(unit: ArraySlice<UInt8>) throws(BitstreamError) {
        var reader = BitReader(unit)
        // The unit's header, the set's id, base layer flags and vps_max_layers_minus1.
        try reader.skip(16 + 4 + 2 + 6)
        let subLayers = try reader.u(3) &+ 1
        guard subLayers <= 7 else { throw .outOfRange("vps_max_sub_layers_minus1") }
        // vps_temporal_id_nesting_flag and vps_reserved_0xffff_16bits
        try reader.skip(17)
        _ = try H265ProfileTierLevel(&reader, subLayers: subLayers)
        try H265CommonSyntax.skipSubLayerOrdering(&reader, subLayers: subLayers)
        let layers = try reader.u(6) &+ 1
        let layerSets = try reader.ue("vps_num_layer_sets_minus1", in: 0...1023)
        // layer_id_included_flag
        try reader.skip(layerSets &* layers)
        guard try reader.flag() else {
            timesPictures = false
            return
        }
        // vps_num_units_in_tick and vps_time_scale, then vps_num_ticks_poc_diff_one_minus1.
        try reader.skip(64)
        if try reader.flag() { try reader.skipCodes() }
        timesPictures = try reader.ue() > 0
    }
}
