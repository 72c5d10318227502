import FoundationEssentials
import Media

/// Cuts a byte stream into packets, whatever pieces it arrives in.
///
/// It holds at most one header, one body of `maximumLength` bytes and what was appended last. The body of an unknown type is
/// counted off, never held. After an error every call throws the same error again.
package struct PacketDecoder: Sendable {
    /// The direction of the packets that are accepted.
    private let direction: Direction
    /// Longest accepted body in bytes, where its type's is not shorter; a link that has not said HELLO yet is given a small one.
    package var maximumLength: Int
    /// Whether heartbeats are left unread.
    package var leavesHeartbeats = false

    private var buffer: [UInt8] = []
    private var consumed = 0
    private var bytesToSkip = 0
    private var failure: WireError?

    package init(accepting direction: Direction, maximumLength: Int = PacketHeader.maximumLength) {
        self.direction = direction
        self.maximumLength = maximumLength
    }

    /// Takes in the next bytes of the stream.
    package mutating func append(_ bytes: [UInt8]) { append(bytes.span.bytes) }

    /// Takes in the next bytes of the stream.
    package mutating func append(_ bytes: RawSpan) {
        guard failure == nil else { return }
        let skipped = min(bytesToSkip, bytes.byteCount)
        bytesToSkip &-= skipped
        if consumed > 0 {
            buffer.removeLeading(consumed)
            consumed = 0
        }
        bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            reader.skip(skipped)
            buffer.append(contentsOf: reader.remaining)
        }
    }

    /// What the bytes behind those that are consumed begin with.
    private enum Beginning {
        /// A packet of an unknown type.
        case unknown(PacketHeader)
        case packet(Packet, byteCount: Int)
        /// A part of a packet, which ends at this place if that is known.
        case part(end: Int?)
    }

    /// The next whole packet, nil when more bytes are needed.
    package mutating func next() throws(WireError) -> Packet? {
        if let failure { throw failure }
        do throws(WireError) {
            while bytesToSkip == 0 {
                switch try beginning() {
                case .unknown(let header): skipBody(of: header)
                case .packet(let packet, let byteCount):
                    consumed &+= byteCount
                    return packet
                case .part(let end):
                    if let end { buffer.reserveCapacity(end) }
                    return nil
                }
            }
            return nil
        } catch {
            failure = error
            buffer = []
            throw error
        }
    }

    private func beginning() throws(WireError) -> Beginning {
        try buffer.span.bytes.withUnsafeBytes { bytes throws(WireError) in
            var reader = ByteReader(bytes)
            reader.skip(consumed)
            guard let header = try readHeader(from: &reader) else { return .part(end: nil) }
            guard let type = PacketType(rawValue: header.type) else { return .unknown(header) }
            let byteCount = PacketHeader.byteCount &+ header.length
            guard let body = reader.take(header.length) else { return .part(end: consumed &+ byteCount) }
            if leavesHeartbeats, type == .heartbeat {
                return .packet(.unreadHeartbeat(UnreadHeartbeat(body: Data(body.remaining))), byteCount: byteCount)
            }
            return .packet(try Self.parse(type, session: header.session, body: body), byteCount: byteCount)
        }
    }

    /// Reads a header and checks it. Returns `nil` if it is not whole yet.
    private func readHeader(from reader: inout ByteReader) throws(WireError) -> PacketHeader? {
        // Behind the type come two bytes of flags.
        guard let magic = reader.u32(), let version = reader.u8(), let type = reader.u8(), reader.u16() != nil,
            let session = reader.u32(), let length = reader.u32()
        else { return nil }
        guard magic == PacketHeader.magic else { throw .badMagic(magic) }
        guard version == PacketHeader.version else { throw .unsupportedVersion(version) }
        guard Direction(type: type) == direction else { throw .wrongDirection(type: type) }
        let header = PacketHeader(type: type, session: session, length: Int(clamping: length))
        let limit = min(maximumLength, PacketType(rawValue: type)?.maximumLength ?? .max)
        guard header.length <= limit else {
            throw .tooLong(type: type, length: header.length, limit: limit)
        }
        return header
    }

    private mutating func skipBody(of header: PacketHeader) {
        consumed &+= PacketHeader.byteCount
        let here = min(header.length, buffer.count &- consumed)
        consumed &+= here
        bytesToSkip = header.length &- here
    }

    private static func parse(
        _ type: PacketType,
        session: SessionID,
        body: ByteReader
    ) throws(WireError) -> Packet {
        func json<Body: Decodable>(_: Body.Type = Body.self) throws(WireError) -> Body {
            do {
                return try JSONDecoder().decode(Body.self, from: Data(body.remaining))
            } catch {
                throw .malformedBody(type: type, reason: "\(error)")
            }
        }
        switch type {
        case .welcome: return .welcome(try json())
        case .reject: return .reject(try json())
        case .sessionAdd: return .sessionAdd(session, try json())
        case .sessionUpdate: return .sessionUpdate(session, try json())
        case .sessionRemove: return .sessionRemove(session)
        case .keyframeRequest:
            var rest = body
            guard let request = rest.u32(), rest.count == 0 else {
                throw .malformedBody(type: type, reason: "\(body.count) bytes, 4 expected")
            }
            return .keyframeRequest(session, request: request)
        case .stillRequest: return .stillRequest(session, try StillRequestBody.parse(body))
        case .stop: return .stop(try json())
        case .hello: return .hello(try json())
        case .heartbeat: return .heartbeat(try json())
        case .accessUnit: return .accessUnit(session, try AccessUnitBody.parse(body))
        case .status: return .status(try json())
        case .sessionError: return .sessionError(session, try json())
        case .still: return .still(session, try StillBody.parse(body))
        case .encoders: return .encoders(try json())
        case .rested: return .rested(session, try json())
        case .rest: return .rest(session, try json())
        case .wake: return .wake(session)
        }
    }
}
