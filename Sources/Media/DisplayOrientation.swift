/// The message in the stream that tells players how to rotate its pictures: display orientation (H.264 D.1.27, H.265
/// D.2.17).
package enum DisplayOrientation {
    /// Returns the access unit with the message before its first slice, or unchanged if the orientation is 0.
    ///
    /// The message holds until the next sequence begins. But libavcodec (59) reports it only for H.264 pictures that
    /// carry it themselves, so it is added to every picture.
    ///
    /// - Parameter orientation: Clockwise quarter turns, 0 to 3.
    package static func added(_ orientation: UInt8, to bytes: [UInt8], codec: Codec) -> [UInt8] {
        guard orientation != 0,
            let slice = AnnexB.units(in: bytes).first(where: {
                bytes[at: $0.header].map { NALUnitKind(header: $0, codec: codec) } == .slice
            })
        else { return bytes }
        var turned = bytes
        turned.insert(message(orientation, codec), before: slice.range.lowerBound)
        return turned
    }

    private static func message(_ orientation: UInt8, _ codec: Codec) -> [UInt8] {
        var unit = BitWriter()
        switch codec {
        case .h264: unit.u(8, 0x06)  // nal_unit_type 6
        case .h265: unit.u(16, 0x4E01)  // nal_unit_type 39, layer 0, sub-layer 0
        }
        unit.u(8, 47)  // payloadType
        unit.u(8, 3)  // payloadSize
        unit.u(3, 0)  // display_orientation_cancel_flag, hor_flip, ver_flip
        unit.u(16, (4 &- Int(clamping: orientation)) << 14)  // anticlockwise_rotation, of 65536
        switch codec {
        case .h264:
            unit.ue(1)  // display_orientation_repetition_period: as long as the sequence
            unit.flag(false)  // display_orientation_extension_flag
        case .h265:
            unit.flag(true)  // display_orientation_persistence_flag
        }
        unit.trailingBits()  // of the message
        unit.trailingBits()  // of the unit
        return unit.annexBUnit()
    }
}
