import Media

/// The body of an ACCESS_UNIT packet, big-endian:
///
///      0 | pts, i64: µs since the session's epoch
///      8 | captured, u64: monotonic ns
///     16 | encode start, u64: monotonic ns
///     24 | encode end, u64: monotonic ns
///     32 | keyframe request id, u32: 0 for none
///     36 | flags, u8: 1 key, 2 repeat, 4 skip
///     37 | orientation, u8: quarter turns clockwise, 0 to 3
///     38 | width, u16
///     40 | height, u16
///     42 | reserved, u16: 0
///     44 | Annex B bytes to the end of the body
enum AccessUnitBody {
    static let fixedByteCount = 44

    static func append(_ accessUnit: AccessUnit, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: accessUnit.pts)
        bytes.append(bigEndian: accessUnit.captured)
        bytes.append(bigEndian: accessUnit.encodeStart)
        bytes.append(bigEndian: accessUnit.encodeEnd)
        bytes.append(bigEndian: accessUnit.keyframeRequest)
        bytes.append(accessUnit.flags.rawValue)
        bytes.append(accessUnit.orientation)
        bytes.append(bigEndian: UInt16(accessUnit.size.width))
        bytes.append(bigEndian: UInt16(accessUnit.size.height))
        bytes.append(bigEndian: UInt16(0))
        bytes.append(contentsOf: accessUnit.bytes)
    }

    static func parse(_ body: UnsafeRawBufferPointer) throws(WireError) -> AccessUnit {
        guard body.count > fixedByteCount else {
            throw .malformedBody(type: .accessUnit, reason: "\(body.count) bytes, more than \(fixedByteCount) expected")
        }
        func integer<Value: FixedWidthInteger>(at offset: Int) -> Value {
            Value(bigEndian: body.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
        let width: UInt16 = integer(at: 38)
        let height: UInt16 = integer(at: 40)
        guard width > 0, height > 0, body[37] < 4 else {
            throw .malformedBody(type: .accessUnit, reason: "size \(width)x\(height), orientation \(body[37])")
        }
        return AccessUnit(
            pts: integer(at: 0),
            captured: integer(at: 8),
            encodeStart: integer(at: 16),
            encodeEnd: integer(at: 24),
            flags: AccessUnit.Flags(rawValue: body[36]),
            keyframeRequest: integer(at: 32),
            orientation: body[37],
            size: PictureSize(width: Int(width), height: Int(height)),
            bytes: Array(UnsafeRawBufferPointer(rebasing: body[fixedByteCount...]))
        )
    }
}
