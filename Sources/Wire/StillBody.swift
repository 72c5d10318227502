import Media

/// The body of a STILL_REQUEST packet, big-endian:
///
///      0 | request id, u32
///      4 | format, u8: 1 JPEG, 2 PNG
///      5 | quality of a JPEG, u8: 1 to 100
///      6 | flags, u8: 1 fresh
///      7 | reserved, u8: 0
enum StillRequestBody {
    static let byteCount = 8
    private static let fresh: UInt8 = 1
    private static let qualities: ClosedRange<UInt8> = 1...100

    static func append(_ request: StillRequest, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: request.id)
        bytes += [request.format.rawValue, request.quality, request.isFresh ? fresh : 0, 0]
    }

    static func parse(_ body: UnsafeRawBufferPointer) throws(WireError) -> StillRequest {
        guard body.count == byteCount else {
            throw .malformedBody(type: .stillRequest, reason: "\(body.count) bytes, \(byteCount) expected")
        }
        guard let format = StillFormat(rawValue: body[4]), qualities.contains(body[5]) else {
            throw .malformedBody(type: .stillRequest, reason: "format \(body[4]), quality \(body[5])")
        }
        return StillRequest(
            id: UInt32(bigEndian: body.loadUnaligned(as: UInt32.self)),
            format: format,
            quality: body[5],
            isFresh: body[6] & fresh != 0
        )
    }
}

/// The body of a STILL packet, big-endian:
///
///      0 | request id, u32
///      4 | refusal, u8: 0 for none, then the rest is 0
///      5 | format, u8: 1 JPEG, 2 PNG
///      6 | orientation, u8: quarter turns clockwise, 0 to 3
///      7 | reserved, u8: 0
///      8 | captured, u64: monotonic ns
///     16 | width, u16
///     18 | height, u16
///     20 | the file to the end of the body; empty with a refusal
enum StillBody {
    static let fixedByteCount = 20

    static func byteCount(of still: Still) -> Int {
        guard case .picture(let picture) = still.outcome else { return fixedByteCount }
        return fixedByteCount + picture.bytes.count
    }

    static func append(_ still: Still, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: still.request)
        switch still.outcome {
        case .refusal(let refusal):
            bytes.append(refusal.rawValue)
            bytes += [UInt8](repeating: 0, count: fixedByteCount - 5)
        case .picture(let picture):
            bytes += [0, picture.format.rawValue, picture.orientation, 0]
            bytes.append(bigEndian: picture.captured)
            bytes.append(bigEndian: UInt16(picture.size.width))
            bytes.append(bigEndian: UInt16(picture.size.height))
            bytes += picture.bytes
        }
    }

    static func parse(_ body: UnsafeRawBufferPointer) throws(WireError) -> Still {
        guard body.count >= fixedByteCount else {
            throw .malformedBody(type: .still, reason: "\(body.count) bytes, at least \(fixedByteCount) expected")
        }
        func integer<Value: FixedWidthInteger>(at offset: Int) -> Value {
            Value(bigEndian: body.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
        let request: UInt32 = integer(at: 0)
        guard body[4] == 0 else {
            guard let refusal = Still.Refusal(rawValue: body[4]), body.count == fixedByteCount else {
                throw .malformedBody(type: .still, reason: "refusal \(body[4]) with \(body.count) bytes")
            }
            return Still(request: request, outcome: .refusal(refusal))
        }
        let width: UInt16 = integer(at: 16)
        let height: UInt16 = integer(at: 18)
        guard let format = StillFormat(rawValue: body[5]), body[6] < 4, width > 0, height > 0,
            body.count > fixedByteCount
        else {
            throw .malformedBody(
                type: .still,
                reason: "format \(body[5]), size \(width)x\(height), orientation \(body[6]), \(body.count) bytes"
            )
        }
        let picture = Still.Picture(
            format: format,
            captured: integer(at: 8),
            orientation: body[6],
            size: PictureSize(width: Int(width), height: Int(height)),
            bytes: Array(body[fixedByteCount...])
        )
        return Still(request: request, outcome: .picture(picture))
    }
}
