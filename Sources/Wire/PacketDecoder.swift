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
        bytesToSkip -= skipped
        if consumed > 0 {
            buffer.removeFirst(consumed)
            consumed = 0
        }
        bytes.withUnsafeBytes { buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[skipped...])) }
    }

    /// The next whole packet, nil when more bytes are needed.
    package mutating func next() throws(WireError) -> Packet? {
        if let failure { throw failure }
        do throws(WireError) {
            while let header = try nextHeader() {
                guard let type = PacketType(rawValue: header.type) else {
                    skipBody(of: header)
                    continue
                }
                let end = consumed + PacketHeader.byteCount + header.length
                guard buffer.count >= end else {
                    buffer.reserveCapacity(end)
                    return nil
                }
                let packet = try buffer.span.bytes.withUnsafeBytes { bytes throws(WireError) in
                    let body = UnsafeRawBufferPointer(rebasing: bytes[(end - header.length)..<end])
                    if leavesHeartbeats, type == .heartbeat {
                        return Packet.unreadHeartbeat(UnreadHeartbeat(body: Data(body)))
                    }
                    return try Self.parse(type, session: header.session, body: body)
                }
                consumed = end
                return packet
            }
            return nil
        } catch {
            failure = error
            buffer = []
            throw error
        }
    }

    /// The header at the front, checked, and left there.
    private func nextHeader() throws(WireError) -> PacketHeader? {
        guard bytesToSkip == 0, buffer.count - consumed >= PacketHeader.byteCount else { return nil }
        let (magic, version, header) = buffer.withUnsafeBytes { bytes in
            func integer(at offset: Int) -> UInt32 {
                UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: consumed + offset, as: UInt32.self))
            }
            let header = PacketHeader(type: bytes[consumed + 5], session: integer(at: 8), length: Int(integer(at: 12)))
            return (integer(at: 0), bytes[consumed + 4], header)
        }
        guard magic == PacketHeader.magic else { throw .badMagic(magic) }
        guard version == PacketHeader.version else { throw .unsupportedVersion(version) }
        guard Direction(type: header.type) == direction else { throw .wrongDirection(type: header.type) }
        let limit = min(maximumLength, PacketType(rawValue: header.type)?.maximumLength ?? .max)
        guard header.length <= limit else {
            throw .tooLong(type: header.type, length: header.length, limit: limit)
        }
        return header
    }

    private mutating func skipBody(of header: PacketHeader) {
        consumed += PacketHeader.byteCount
        let here = min(header.length, buffer.count - consumed)
        consumed += here
        bytesToSkip = header.length - here
    }

    private static func parse(
        _ type: PacketType,
        session: SessionID,
        body: UnsafeRawBufferPointer
    ) throws(WireError) -> Packet {
        func json<Body: Decodable>(_: Body.Type = Body.self) throws(WireError) -> Body {
            do {
                return try JSONDecoder().decode(Body.self, from: Data(body))
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
            guard body.count == 4 else {
                throw .malformedBody(type: type, reason: "\(body.count) bytes, 4 expected")
            }
            return .keyframeRequest(session, request: UInt32(bigEndian: body.loadUnaligned(as: UInt32.self)))
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
