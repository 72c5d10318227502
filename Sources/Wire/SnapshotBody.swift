import Media

/// The body of a SNAPSHOT_REQUEST packet, big-endian:
///
///      0 | request id, u32
///      4 | format, u8: 1 JPEG, 2 PNG
///      5 | quality of a JPEG, u8: 1 to 100
///      6 | flags, u8: 1 fresh
///      7 | longer side, u8: in 16 pixels, of a preview; 0 for a picture as in the session
enum SnapshotRequestBody {
    static let byteCount = 8
    private static let fresh: UInt8 = 1
    private static let qualities: ClosedRange<UInt8> = 1...100

    static func append(_ request: SnapshotRequest, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: request.id)
        bytes += [request.format.rawValue, request.quality, request.isFresh ? fresh : 0, request.side]
    }

    static func parse(_ body: ByteReader) throws(WireError) -> SnapshotRequest {
        var rest = body
        guard let id = rest.u32(), let format = rest.u8(), let quality = rest.u8(), let flags = rest.u8(),
            let side = rest.u8(), rest.count == 0
        else {
            throw .malformedBody(type: .snapshotRequest, reason: "\(body.count) bytes, \(byteCount) expected")
        }
        guard let known = SnapshotFormat(rawValue: format), qualities.contains(quality) else {
            throw .malformedBody(type: .snapshotRequest, reason: "format \(format), quality \(quality)")
        }
        return SnapshotRequest(id: id, format: known, quality: quality, isFresh: flags & fresh != 0, side: side)
    }
}

/// The body of a SNAPSHOT packet, big-endian:
///
///      0 | request id, u32
///      4 | refusal, u8: 0 for none, then the rest is 0
///      5 | format, u8: 1 JPEG, 2 PNG
///      6 | orientation, u8: quarter turns clockwise, 0 to 3
///      7 | flags, u8: 1 geometry
///      8 | captured, u64: monotonic ns
///     16 | width, u16
///     18 | height, u16
///     20 | with the flag geometry: geometry, u32, not 0
///        | the file to the end of the body; empty with a refusal
enum SnapshotBody {
    static let fixedByteCount = 20
    /// The same with a geometry.
    static let maximumFixedByteCount = fixedByteCount + 4
    private static let geometry: UInt8 = 1

    static func byteCount(of snapshot: Snapshot) -> Int {
        guard case .picture(let picture) = snapshot.outcome else { return fixedByteCount }
        return maximumFixedByteCount &+ picture.bytes.count
    }

    static func append(_ snapshot: Snapshot, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: snapshot.request)
        switch snapshot.outcome {
        case .refusal(let refusal):
            bytes.append(refusal.rawValue)
            bytes.append(contentsOf: repeatElement(0, count: max(0, fixedByteCount &- 5)))
        case .picture(let picture):
            bytes += [0, picture.format.rawValue, picture.orientation, picture.geometry == 0 ? 0 : geometry]
            bytes.append(bigEndian: picture.captured)
            bytes.append(bigEndian: UInt16(clamping: picture.size.width))
            bytes.append(bigEndian: UInt16(clamping: picture.size.height))
            if picture.geometry != 0 { bytes.append(bigEndian: picture.geometry) }
            bytes.append(contentsOf: picture.bytes)
        }
    }

    static func parse(_ body: ByteReader) throws(WireError) -> Snapshot {
        var rest = body
        guard let request = rest.u32(), let refusal = rest.u8(), let format = rest.u8(), let orientation = rest.u8(),
            let flags = rest.u8(), let captured = rest.u64(), let width = rest.u16(), let height = rest.u16()
        else {
            throw .malformedBody(type: .snapshot, reason: "\(body.count) bytes, at least \(fixedByteCount) expected")
        }
        guard refusal == 0 else {
            guard let known = Snapshot.Refusal(rawValue: refusal), rest.count == 0 else {
                throw .malformedBody(type: .snapshot, reason: "refusal \(refusal) with \(body.count) bytes")
            }
            return Snapshot(request: request, outcome: .refusal(known))
        }
        let hasGeometry = flags & Self.geometry != 0
        let geometry = hasGeometry ? rest.u32() : 0
        guard let known = SnapshotFormat(rawValue: format), orientation < 4, width > 0, height > 0, rest.count > 0,
            let geometry, (geometry != 0) == hasGeometry
        else {
            let size = "size \(width)x\(height), orientation \(orientation), \(body.count) bytes"
            throw .malformedBody(type: .snapshot, reason: "format \(format), \(size)")
        }
        let picture = Snapshot.Picture(
            format: known,
            captured: captured,
            orientation: orientation,
            size: PictureSize(width: Int(clamping: width), height: Int(clamping: height)),
            geometry: geometry,
            bytes: rest.bytes
        )
        return Snapshot(request: request, outcome: .picture(picture))
    }
}
