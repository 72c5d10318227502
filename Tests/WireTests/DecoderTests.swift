import Media
import Testing
import Wire

@Suite("A packet decoder")
struct DecoderTests {
    private static let stream = SamplePackets.agentToRelay.flatMap(\.bytes)
    private static let packets = SamplePackets.agentToRelay.map(\.packet)

    private func drain(_ decoder: inout PacketDecoder) throws(WireError) -> [Packet] {
        var packets: [Packet] = []
        while let packet = try decoder.next() { packets.append(packet) }
        return packets
    }

    @Test("finds the same packets wherever the stream is split")
    func findsTheSamePacketsWhereverTheStreamIsSplit() throws {
        for split in 0...Self.stream.count {
            var decoder = PacketDecoder(accepting: .agentToRelay)
            decoder.append(Array(Self.stream[..<split]))
            var packets = try drain(&decoder)
            decoder.append(Array(Self.stream[split...]))
            packets += try drain(&decoder)
            #expect(packets == Self.packets, "split at \(split)")
        }
    }

    @Test("finds the same packets byte by byte")
    func findsTheSamePacketsByteByByte() throws {
        var decoder = PacketDecoder(accepting: .agentToRelay)
        var packets: [Packet] = []
        for byte in Self.stream {
            decoder.append([byte])
            packets += try drain(&decoder)
        }
        #expect(packets == Self.packets)
    }

    @Test("refuses bytes that are another protocol's")
    func refusesAnotherProtocol() {
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        #expect(throws: WireError.badMagic(0x4745_5420)) { try decoder.next() }
    }

    @Test("refuses another version")
    func refusesAnotherVersion() {
        var bytes = Self.stream
        bytes[4] = 2
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(bytes)
        #expect(throws: WireError.unsupportedVersion(2)) { try decoder.next() }
    }

    @Test("refuses packets of its own direction, known or not", arguments: [UInt8(1), 3, 8, 0x3F, 0x80])
    func refusesTheWrongDirection(type: UInt8) {
        var bytes = SamplePackets.hex("484C4757 01 00 0000 00000000 00000000")
        bytes[5] = type
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(bytes)
        #expect(throws: WireError.wrongDirection(type: type)) { try decoder.next() }
    }

    @Test("refuses a length above its limit before any of the body is there")
    func refusesALengthAboveItsLimit() {
        var decoder = PacketDecoder(accepting: .agentToRelay, maximumLength: 100)
        decoder.append(SamplePackets.hex("484C4757 01 41 0000 00000000 00000065"))
        #expect(throws: WireError.tooLong(type: 65, length: 101, limit: 100)) { try decoder.next() }
    }

    @Test("refuses a length above the type's limit, whatever its own", arguments: PacketType.allCases)
    func refusesALengthAboveTheTypesLimit(type: PacketType) {
        let limit =
            switch type {
            case .accessUnit, .snapshot, .clipboard, .clipboardDone: 16 << 20
            case .heartbeat: 2 << 20
            case .application: 1 << 20
            case .speech: 2048
            // The fixed part, 32 ignored regions, a template of 1 MiB.
            case .watch: 24 + 32 * 8 + (1 << 20)
            default: 256 << 10
            }
        for (length, isRefused) in [(limit, false), (limit + 1, true)] {
            var header = SamplePackets.hex("484C4757 01 00 0000 00000000")
            header[5] = type.rawValue
            header += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            var decoder = PacketDecoder(accepting: type.direction)
            decoder.append(header)
            if isRefused {
                let error = WireError.tooLong(type: type.rawValue, length: length, limit: limit)
                #expect(throws: error) { try decoder.next() }
            } else {
                #expect(throws: Never.self) { try decoder.next() }
            }
        }
    }

    @Test("accepts a length at its limit, and the limit may be raised between packets")
    func theLimitMayBeRaised() throws {
        let hello = SamplePackets.agentToRelay[0]
        var decoder = PacketDecoder(accepting: .agentToRelay, maximumLength: hello.body.count)
        decoder.append(hello.bytes + SamplePackets.agentToRelay[1].bytes)
        #expect(try decoder.next() == hello.packet)
        decoder.maximumLength = PacketHeader.maximumLength
        #expect(try decoder.next() == SamplePackets.agentToRelay[1].packet)
    }

    @Test("skips unknown types and continues after them")
    func skipsUnknownTypes() throws {
        let unknown = SamplePackets.hex("484C4757 01 7F 0000 00000000 00000003 FFFFFF")
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(unknown + SamplePackets.agentToRelay[0].bytes + unknown + SamplePackets.agentToRelay[3].bytes)
        #expect(try drain(&decoder) == [SamplePackets.agentToRelay[0].packet, SamplePackets.agentToRelay[3].packet])
    }

    @Test("holds nothing of an unknown type's body")
    func holdsNothingOfAnUnknownBody() throws {
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(SamplePackets.hex("484C4757 01 7F 0000 00000000 01000000"))
        let piece = [UInt8](repeating: 0x55, count: 64 << 10)
        for _ in 0..<(16 << 20) / piece.count {
            #expect(try decoder.next() == nil)
            decoder.append(piece)
            #expect(heldBytes(decoder) <= PacketHeader.byteCount)
        }
        decoder.append(SamplePackets.agentToRelay[0].bytes)
        #expect(try decoder.next() == SamplePackets.agentToRelay[0].packet)
    }

    @Test("refuses an access unit that ends before its first byte", arguments: [0, 1, 43, 44])
    func refusesATruncatedAccessUnit(count: Int) {
        let whole = SamplePackets.agentToRelay[2]
        var bytes = Array(whole.bytes[..<(PacketHeader.byteCount + count)])
        bytes[15] = UInt8(count)
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(bytes)
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test("refuses an access unit without a size, and one turned by more than three quarters", arguments: [37, 38, 40])
    func refusesAnImpossibleAccessUnit(offset: Int) {
        var bytes = SamplePackets.agentToRelay[2].bytes
        let place = PacketHeader.byteCount + offset
        if offset == 37 {
            bytes[place] = 4
        } else {
            bytes[place] = 0
            bytes[place + 1] = 0
        }
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(bytes)
        #expect(throws: WireError.self) { try decoder.next() }
    }

    private func outcome(of packet: Packet, changedAt offset: Int, to byte: UInt8) -> Result<Packet?, WireError> {
        var bytes = packet.encoded()
        bytes[PacketHeader.byteCount + offset] = byte
        var decoder = PacketDecoder(accepting: packet.type.direction)
        decoder.append(bytes)
        return Result { () throws(WireError) in try decoder.next() }
    }

    @Test(
        "refuses a request for a snapshot of no format and of no quality",
        arguments: [(4, 0), (4, 3), (5, 0), (5, 101)] as [(Int, UInt8)]
    )
    func refusesAnImpossibleSnapshotRequest(offset: Int, byte: UInt8) {
        let request = SnapshotRequest(id: 1, format: .jpeg, quality: 100, isFresh: false)
        #expect(throws: WireError.self) {
            try outcome(of: .snapshotRequest(1, request), changedAt: offset, to: byte).get()
        }
    }

    @Test(
        "refuses a snapshot of no format, without a size, turned by more than three quarters, and a refusal with a picture",
        arguments: [(4, 1), (4, 99), (5, 0), (5, 3), (6, 4), (17, 0), (19, 0)] as [(Int, UInt8)]
    )
    func refusesAnImpossibleSnapshot(offset: Int, byte: UInt8) {
        let picture = Snapshot.Picture(
            format: .png,
            captured: 1,
            orientation: 0,
            size: PictureSize(width: 2, height: 2),
            bytes: [1]
        )
        #expect(throws: WireError.self) {
            try outcome(of: .snapshot(1, Snapshot(request: 1, outcome: .picture(picture))), changedAt: offset, to: byte)
                .get()
        }
    }

    @Test("refuses a snapshot without a file, and a refusal with an unknown reason")
    func refusesAnEmptySnapshot() {
        let refusal = Packet.snapshot(1, Snapshot(request: 1, outcome: .refusal(.busy)))
        for byte: UInt8 in [0, 7, 255] {
            #expect(throws: WireError.self) { try outcome(of: refusal, changedAt: 4, to: byte).get() }
        }
    }

    @Test(
        "refuses a geometry of 0, and a picture that ends in its geometry",
        arguments: [[0, 0, 0, 0, 1], [1, 2, 3, 4]]
    )
    func refusesAnImpossibleGeometry(end: [UInt8]) {
        let body = SamplePackets.hex("00000001 00 02 00 01 0000000000000001 0002 0002") + end
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(SamplePackets.hex("484C4757 01 46 0000 00000001 000000") + [UInt8(body.count)] + body)
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test(
        "refuses orders with impossible steps, with too few or too many, and with text that is not UTF-8",
        arguments: [
            ("0001", "01 7FF8000000000000 0000000000000000"), ("0001", "02 0000000000000000 7FF0000000000000"),
            ("0001", "04 40F0000000000001 0000000000000000"), ("0001", "01 0000000000000000"),
            ("0001", "03 010F 01"), ("0001", "03 0118 01"), ("0001", "03 0110 02"),
            ("0001", "05 00 00 0000000000000000 0000000000000000"),
            ("0001", "05 00 05 0000000000000000 0000000000000000"), ("0001", "06 00000000 01"),
            ("0001", "07 00000002 FFFF"), ("0001", "07 00000003 6161"), ("0001", "08 2711"), ("0001", "00"),
            ("0001", "0A"), ("0001", ""), ("0000", "09"), ("1001", "09"),
        ]
    )
    func refusesAnImpossibleOrder(count: String, steps: String) {
        let body = SamplePackets.hex("00000001 00000000 \(count) 0000 \(steps)")
        var decoder = PacketDecoder(accepting: .relayToAgent)
        decoder.append(SamplePackets.hex("484C4757 01 0C 0000 00000001 000000") + [UInt8(body.count)] + body)
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test(
        "refuses reports with an unknown refusal, with bytes after the time, and with a detail that is not UTF-8",
        arguments: ["09 00 0000 0000000000000000", "00 00 0000 0000000000000001 41", "01 00 0000 0000000000000000 FF"]
    )
    func refusesAnImpossibleReport(fields: String) {
        let body = SamplePackets.hex("00000001 \(fields)")
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(SamplePackets.hex("484C4757 01 4C 0000 00000001 000000") + [UInt8(body.count)] + body)
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test(
        "refuses impossible orders about the clipboard",
        arguments: [
            "00000001 01 01", "00000001 00 01 0000", "00000001 03 01 0000", "00000001 01 00 0000",
            "00000001 01 03 0000", "00000001 01 01 0000 61", "00000001 02 01 0000 FF", "00000001 02 02 0000 61",
            "00000001 02 02 0000",
        ]
    )
    func refusesAnImpossibleClipboardOrder(fields: String) {
        let body = SamplePackets.hex(fields)
        var decoder = PacketDecoder(accepting: .relayToAgent)
        decoder.append(SamplePackets.hex("484C4757 01 0D 0000 00000000 000000") + [UInt8(body.count)] + body)
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test(
        "refuses impossible answers about the clipboard",
        arguments: [
            "00000001 00 00", "00000001 00 00 0000 61", "00000001 00 03 0000", "00000001 00 01 0000 FF",
            "00000001 00 02 0000 61", "00000001 08 00 0000", "00000001 01 01 0000", "00000001 01 00 0000 FF",
        ]
    )
    func refusesAnImpossibleClipboardReport(fields: String) {
        let body = SamplePackets.hex(fields)
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(SamplePackets.hex("484C4757 01 4E 0000 00000000 000000") + [UInt8(body.count)] + body)
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test("the largest content fits into a packet, and a larger text is refused")
    func clipboardLimits() throws {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let size = ClipboardContent.Kind.png.maximumByteCount
        let image = ClipboardContent(.png, signature + Array(repeating: 0, count: size - signature.count))
        let packet = Packet.clipboard(ClipboardOrder(id: 1, request: .set(image)))
        #expect(packet.encoded().count == PacketHeader.byteCount + PacketHeader.maximumLength)
        var decoder = PacketDecoder(accepting: .relayToAgent)
        decoder.append(packet.encoded())
        #expect(try decoder.next() == packet)
        let text = ClipboardContent(
            .text,
            Array(repeating: 0x61, count: ClipboardContent.Kind.text.maximumByteCount + 1)
        )
        decoder.append(Packet.clipboard(ClipboardOrder(id: 1, request: .set(text))).encoded())
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test("the longest texts of a launch fit into a packet, whatever their characters are")
    func launchLimits() throws {
        let launch = ApplicationLaunch(command: [String(repeating: "\u{1}", count: ApplicationOrder.maximumText)])
        #expect(launch.textLength == ApplicationOrder.maximumText)
        let packet = Packet.application(ApplicationOrder(order: 1, kind: .launch, applications: [], launch: launch))
        var decoder = PacketDecoder(accepting: .relayToAgent)
        decoder.append(packet.encoded())
        #expect(try decoder.next() == packet)
    }

    @Test("an order without a problem decodes, and one with a problem does not")
    func ordersProblem() throws {
        let fine: [InputStep] = [
            .text(String(repeating: "a", count: InputOrder.maximumText)), .button(0x117, isDown: true),
            .resize(width: 16, height: 8192),
        ]
        let wrong: [[InputStep]] = [
            Array(repeating: .releaseAll, count: InputOrder.maximumSteps + 1), [.pointer(x: .nan, y: 0)],
            [.pointer(x: 0, y: -65_537)], [.button(1, isDown: true)], [.key(keysym: 0, isDown: true)],
            [.pause(milliseconds: 10_001)], [.text(String(repeating: "a", count: InputOrder.maximumText + 1))],
            Array(repeating: fine[0], count: 4), [.resize(width: 15, height: 16)], [.resize(width: 16, height: 8193)],
        ]
        for steps in [fine] + wrong {
            let order = InputOrder(id: 1, steps: steps)
            var decoder = PacketDecoder(accepting: .relayToAgent)
            decoder.append(Packet.input(1, order).encoded())
            let decoded = Result { () throws(WireError) in try decoder.next() }
            #expect((order.problem == nil) == (decoded == .success(.input(1, order))))
            #expect((order.problem == nil) == (steps == fine))
        }
    }

    @Test("refuses a body that is not the JSON of its type")
    func refusesAnotherBody() {
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(SamplePackets.hex("484C4757 01 41 0000 00000000 00000002") + Array("{}".utf8))
        #expect(throws: WireError.self) { try decoder.next() }
    }

    @Test("repeats its error forever")
    func repeatsItsError() {
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append([UInt8](repeating: 0, count: 16))
        #expect(throws: WireError.badMagic(0)) { try decoder.next() }
        decoder.append(Self.stream)
        #expect(throws: WireError.badMagic(0)) { try decoder.next() }
        #expect(heldBytes(decoder) == 0)
    }
}

/// Returns what the decoder stores. It uses reflection, so that nothing is exposed only for tests.
func heldBytes(_ decoder: PacketDecoder) -> Int {
    let mirror = Mirror(reflecting: decoder)
    guard let input = mirror.descendant("input") as? [UInt8], let consumed = mirror.descendant("consumed") as? Int,
        let head = mirror.descendant("head") as? [UInt8], let partial = mirror.descendant("partial")
    else {
        preconditionFailure("the decoder's bytes have other names")
    }
    let body = Mirror(reflecting: partial).descendant("some", "body") as? [UInt8]
    return input.count - consumed + head.count + (body?.count ?? 0)
}
