package import Media

/// The body of an ACCESS_UNIT packet, big-endian:
///
///      0 | pts, i64: µs since the session's epoch; of a device's track, µs of the monotonic clock
///      8 | captured, u64: monotonic ns
///     16 | encode start, u64: monotonic ns
///     24 | encode end, u64: monotonic ns
///     32 | keyframe request id, u32: 0 for none
///     36 | flags, u8: 1 key, 2 repeat, 4 skip, 8 silence, 128 geometry
///     37 | orientation, u8: quarter turns clockwise, 0 to 3
///     38 | width, u16: 0 unless the track is video
///     40 | height, u16: the same
///     42 | level, u16: of sound, 1 more than hundredths of a dB below full scale; 0 if unknown
///     44 | with the flag geometry: geometry, u32, not 0
///        | the unit to the end of the body: Annex B bytes, or an audio packet
enum AccessUnitBody {
    /// Bytes before the unit without a geometry, and with one.
    static let (fixedByteCount, longestHead) = (44, 48)
    /// The flag of a body with a geometry. It belongs to the encoding only.
    private static let geometry: UInt8 = 128

    static func append(_ accessUnit: AccessUnit, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: accessUnit.pts)
        bytes.append(bigEndian: accessUnit.captured)
        bytes.append(bigEndian: accessUnit.encodeStart)
        bytes.append(bigEndian: accessUnit.encodeEnd)
        bytes.append(bigEndian: accessUnit.keyframeRequest)
        let hasGeometry = accessUnit.geometry != 0
        bytes.append(accessUnit.flags.rawValue & ~geometry | (hasGeometry ? geometry : 0))
        bytes.append(accessUnit.orientation)
        bytes.append(bigEndian: UInt16(clamping: accessUnit.size.width))
        bytes.append(bigEndian: UInt16(clamping: accessUnit.size.height))
        bytes.append(bigEndian: accessUnit.header.level?.code ?? 0)
        if hasGeometry { bytes.append(bigEndian: accessUnit.geometry) }
        bytes.append(contentsOf: accessUnit.bytes)
    }

    /// Reads the part of a body before the unit.
    ///
    /// - Parameter track: The track in the packet's header.
    /// - Returns: The fields, and the number of their bytes.
    static func parse(_ body: ByteReader, track: MediaTrack.ID) throws(WireError) -> (UnitHeader, byteCount: Int) {
        var rest = body
        guard let pts = rest.u64(), let captured = rest.u64(), let encodeStart = rest.u64(), let encodeEnd = rest.u64(),
            let request = rest.u32(), let flags = rest.u8(), let orientation = rest.u8(), let width = rest.u16(),
            let height = rest.u16(), let level = rest.u16(),
            let geometry = flags & Self.geometry == 0 ? 0 : rest.u32(), rest.count > 0
        else {
            throw .malformedBody(type: .accessUnit, reason: "\(body.count) bytes, more than \(fixedByteCount) expected")
        }
        guard track != MediaTrack.videoID || width > 0 && height > 0, orientation < 4,
            (geometry != 0) == (flags & Self.geometry != 0)
        else {
            throw .malformedBody(
                type: .accessUnit,
                reason: "size \(width)x\(height), orientation \(orientation), geometry \(geometry)"
            )
        }
        let header = UnitHeader(
            track: track,
            pts: Int64(bitPattern: pts),
            captured: captured,
            encodeStart: encodeStart,
            encodeEnd: encodeEnd,
            flags: UnitFlags(rawValue: flags & ~Self.geometry),
            keyframeRequest: request,
            orientation: orientation,
            size: PictureSize(width: Int(clamping: width), height: Int(clamping: height)),
            geometry: geometry,
            level: SoundLevel(code: level)
        )
        return (header, geometry == 0 ? fixedByteCount : longestHead)
    }
}

extension AccessUnit {
    /// The most Annex B bytes that fit into a packet.
    package static let maximumByteCount = PacketHeader.maximumLength - AccessUnitBody.longestHead
}
