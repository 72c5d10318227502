import FoundationEssentials
package import Media

/// A decoder that cuts a byte stream, in pieces of any size, into packets.
///
/// Each body is assembled in its own memory, which becomes the unit's, so a unit is copied only once. The body of an
/// unknown type is skipped without being stored. After an error, every call throws the same error again.
package struct PacketStream<Bytes: MediaBytes>: Sendable {
    /// An item of the stream.
    package enum Item: Sendable, Equatable {
        case packet(Packet)
        case unit(SessionID, EncodedUnit<Bytes>)
    }

    /// The direction of accepted packets.
    private let direction: Direction
    /// The longest accepted body, in bytes, if the limit of its type is not lower. A link that has not sent HELLO yet
    /// gets a low limit.
    package var maximumLength: Int
    /// Whether heartbeats are returned unread.
    package var leavesHeartbeats = false

    /// The pieces that have arrived, and how many of their bytes have been taken.
    private var (input, consumed) = (Bytes.none, 0)
    /// The start of an incomplete header.
    private var head: [UInt8] = []
    /// The packet whose body is incomplete.
    private var partial: (type: PacketType, header: PacketHeader, body: Bytes)?
    private var bytesToSkip = 0
    private var failure: WireError?

    package init(accepting direction: Direction, maximumLength: Int = PacketHeader.maximumLength) {
        self.direction = direction
        self.maximumLength = maximumLength
    }

    /// Accepts the next bytes of the stream.
    package mutating func append(_ bytes: Bytes) {
        guard failure == nil else { return }
        guard consumed < input.byteCount else {
            // Skipped bytes are not stored.
            let skipped = min(bytesToSkip, bytes.byteCount)
            bytesToSkip &-= skipped
            return (input, consumed) = skipped == bytes.byteCount ? (.none, 0) : (bytes, skipped)
        }
        // Packets wait here only if the link has been told to wait.
        input.removeLeading(consumed)
        consumed = 0
        bytes.read { input.append($0) }
    }

    /// Returns the next complete packet or unit, or `nil` if more bytes are needed.
    package mutating func nextItem() throws(WireError) -> Item? {
        if let failure { throw failure }
        do throws(WireError) {
            while consumed < input.byteCount || partial?.header.length == 0 {
                if bytesToSkip > 0 {
                    bytesToSkip &-= take(bytesToSkip) { _ in }
                } else if partial != nil {
                    if let item = try assemble() { return item }
                } else {
                    try readHeader()
                }
            }
            // Releases the pieces, so that their memory can be reused.
            (input, consumed) = (.none, 0)
            return nil
        } catch {
            failure = error
            (input, consumed, head, partial) = (.none, 0, [], nil)
            throw error
        }
    }

    /// Passes at most `count` of the arrived bytes to `use`.
    ///
    /// - Returns: The number of bytes.
    private mutating func take(_ count: Int, _ use: (ByteReader) -> Void) -> Int {
        let taken = min(count, input.byteCount &- consumed)
        input.read { use($0.part(from: consumed, count: taken)) }
        consumed &+= taken
        return taken
    }

    /// Adds the arrived bytes to the partial packet's body.
    private mutating func assemble() throws(WireError) -> Item? {
        guard let (type, header, _) = partial, var body = partial?.body else { return nil }
        // Cleared first, because a body with one owner is appended to in place.
        partial = nil
        _ = take(header.length &- body.byteCount) { body.append($0) }
        guard body.byteCount == header.length else {
            partial = (type, header, body)
            return nil
        }
        guard type == .accessUnit else {
            return .packet(
                try body.read { body throws(WireError) in try parse(type, session: header.session, body: body) }
            )
        }
        let (fields, byteCount) = try body.read { body throws(WireError) in
            try AccessUnitBody.parse(body, track: header.track)
        }
        body.removeLeading(byteCount)
        return .unit(header.session, EncodedUnit(fields, body))
    }

    /// Reads a header, or the part of it that has arrived.
    private mutating func readHeader() throws(WireError) {
        if head.isEmpty, input.byteCount &- consumed >= PacketHeader.byteCount {
            defer { consumed &+= PacketHeader.byteCount }
            return begin(
                try input.read { bytes throws(WireError) in
                    try parseHeader(bytes.part(from: consumed, count: PacketHeader.byteCount))
                }
            )
        }
        var more: [UInt8] = []
        _ = take(PacketHeader.byteCount &- head.count) { more = $0.bytes }
        head += more
        guard head.count == PacketHeader.byteCount else { return }
        begin(try head.read { bytes throws(WireError) in try parseHeader(bytes) })
        head.removeAll(keepingCapacity: true)
    }

    private mutating func begin(_ header: PacketHeader?) {
        guard let header else { return }
        guard let type = PacketType(rawValue: header.type) else {
            bytesToSkip = header.length
            return
        }
        var body = Bytes.none
        body.reserve(header.length)
        partial = (type, header, body)
    }

    private func parseHeader(_ bytes: ByteReader) throws(WireError) -> PacketHeader? {
        var reader = bytes
        guard let magic = reader.u32(), let version = reader.u8(), let type = reader.u8(), let track = reader.u16(),
            let session = reader.u32(), let length = reader.u32()
        else { return nil }
        guard magic == PacketHeader.magic else { throw .badMagic(magic) }
        guard version == PacketHeader.version else { throw .unsupportedVersion(version) }
        guard Direction(type: type) == direction else { throw .wrongDirection(type: type) }
        let header = PacketHeader(type: type, track: track, session: session, length: Int(clamping: length))
        let limit = min(maximumLength, PacketType(rawValue: type)?.maximumLength ?? .max)
        guard header.length <= limit else {
            throw .tooLong(type: type, length: header.length, limit: limit)
        }
        return header
    }

    /// Reads the body of any packet except an access unit.
    private func parse(
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
        func id() throws(WireError) -> UInt32 {
            var rest = body
            guard let id = rest.u32(), rest.count == 0 else {
                throw .malformedBody(type: type, reason: "\(body.count) bytes, 4 expected")
            }
            return id
        }
        switch type {
        case .welcome: return .welcome(try json())
        case .reject: return .reject(try json())
        case .sessionAdd: return .sessionAdd(session, try json())
        case .sessionUpdate: return .sessionUpdate(session, try json())
        case .sessionRemove: return .sessionRemove(session)
        case .keyframeRequest: return .keyframeRequest(session, request: try id())
        case .snapshotRequest: return .snapshotRequest(session, try SnapshotRequestBody.parse(body))
        case .stop: return .stop(try json())
        case .hello: return .hello(try json())
        case .heartbeat:
            return leavesHeartbeats
                ? .unreadHeartbeat(UnreadHeartbeat(body: Data(body.remaining))) : .heartbeat(try json())
        case .accessUnit: throw .malformedBody(type: type, reason: "it is a unit")
        case .status: return .status(try json())
        case .sessionError: return .sessionError(session, try json())
        case .snapshot: return .snapshot(session, try SnapshotBody.parse(body))
        case .encoders: return .encoders(try json())
        case .rested: return .rested(session, try json())
        case .rest: return .rest(session, try json())
        case .wake: return .wake(session)
        case .tracks: return .tracks(try json())
        case .watch: return .watch(session, try WatchBody.parse(body))
        case .unwatch: return .unwatch(session, watch: try id())
        case .watched: return .watched(session, try WatchReportBody.parse(body))
        case .input: return .input(session, try InputOrderBody.parse(body))
        case .inputDone: return .inputDone(session, try InputReportBody.parse(body))
        case .inputs: return .inputs(try json())
        case .clipboard: return .clipboard(try ClipboardOrderBody.parse(body))
        case .clipboardDone: return .clipboardDone(try ClipboardReportBody.parse(body))
        case .gamepad: return .gamepad(try GamepadOrderBody.parse(body))
        case .gamepadFeedback: return .gamepadFeedback(try GamepadReportBody.parse(body))
        case .application: return .application(try json())
        case .listen: return .listen(try json())
        case .speech: return .speech(body.bytes)
        case .speechReport: return .speechReport(try json())
        case .applicationDone: return .applicationDone(try json())
        }
    }
}

/// A decoder of packets whose access units are arrays.
package typealias PacketDecoder = PacketStream<[UInt8]>

extension PacketDecoder {
    /// Returns the next complete packet, or `nil` if more bytes are needed.
    package mutating func next() throws(WireError) -> Packet? {
        switch try nextItem() {
        case .packet(let packet): packet
        case .unit(let session, let unit): .accessUnit(session, unit)
        case nil: nil
        }
    }
}

/// A HEARTBEAT whose body has not been read, because with hundreds of sessions reading takes longer than pictures may
/// wait.
package struct UnreadHeartbeat: Sendable, Equatable {
    let body: Data

    init(body: Data) { self.body = body }

    package func read() throws(WireError) -> Heartbeat {
        do {
            return try JSONDecoder().decode(Heartbeat.self, from: body)
        } catch {
            throw .malformedBody(type: .heartbeat, reason: "\(error)")
        }
    }
}
