import CaptureAgent
import Media
import TestSupport
import Testing
import Wire

@Suite("The queue to the relay")
struct SendQueueTests {
    private static func unit(pts milliseconds: Int64, key: Bool = false, byteCount: Int = 10) -> AccessUnit {
        AccessUnit(
            pts: milliseconds * 1000,
            captured: 0,
            encodeStart: 0,
            encodeEnd: 0,
            flags: key ? .key : [],
            size: PictureSize(width: 2, height: 2),
            bytes: Array(repeating: 1, count: byteCount)
        )
    }

    /// Returns whether the queue accepted it, or the session need not start again.
    private static func append(_ unit: AccessUnit, session: SessionID, to queue: inout SendQueue) -> Bool {
        queue.append(unit, session: session)
    }

    private static func lets(_ unit: AccessUnit, of session: SessionID, pass queue: inout SendQueue) -> Bool {
        queue.lets(unit, of: session)
    }

    private static func packets(_ queue: inout SendQueue) throws -> [Packet] {
        var decoder = PacketDecoder(accepting: .agentToRelay)
        for bytes in queue.takeAll() { decoder.append(bytes) }
        var packets: [Packet] = []
        while let packet = try decoder.next() { packets.append(packet) }
        return packets
    }

    @Test("packets leave in the order they came")
    func order() throws {
        var queue = SendQueue(maximumMedia: 1000)
        let status = Packet.status(SourceStatus(state: .paused))
        queue.append(control: status.encoded())
        #expect(Self.append(Self.unit(pts: 0, key: true), session: 1, to: &queue))
        queue.append(control: status.encoded())
        #expect(queue.byteCount > 0)
        let packets = try Self.packets(&queue)
        #expect(packets == [status, .accessUnit(1, Self.unit(pts: 0, key: true)), status])
        #expect(queue.isEmpty && queue.byteCount == 0)
    }

    @Test(
        "a session more than a second behind loses its pictures up to the next keyframe, the others and control packets none"
    )
    func fallingBehind() throws {
        var queue = SendQueue(maximumMedia: 1000)
        let status = Packet.status(SourceStatus(state: .paused))
        #expect(Self.append(Self.unit(pts: 0, key: true), session: 1, to: &queue))
        #expect(Self.append(Self.unit(pts: 0, key: true), session: 2, to: &queue))
        queue.append(control: status.encoded())
        #expect(Self.append(Self.unit(pts: 1000), session: 1, to: &queue))
        #expect(
            !Self.append(Self.unit(pts: 1001), session: 1, to: &queue),
            "the session has to begin again with a keyframe"
        )
        #expect(Self.append(Self.unit(pts: 1034), session: 1, to: &queue))
        #expect(Self.append(Self.unit(pts: 1067, key: true), session: 1, to: &queue))
        #expect(queue.drops == [1: 4])
        let packets = try Self.packets(&queue)
        #expect(
            packets == [
                .accessUnit(2, Self.unit(pts: 0, key: true)), status, .accessUnit(1, Self.unit(pts: 1067, key: true)),
            ]
        )
    }

    @Test("the rest of a partly written packet leaves first, counts, and outlives the drop of its session")
    func rest() throws {
        var queue = SendQueue(maximumMedia: 1000)
        let first = Packet.accessUnit(1, Self.unit(pts: 0, key: true)).encoded()
        queue.putBack(Array(first[20...]))
        #expect(!queue.isEmpty && queue.byteCount == first.count - 20)
        let status = Packet.status(SourceStatus(state: .paused)).encoded()
        queue.append(control: status)
        #expect(Self.append(Self.unit(pts: 10), session: 1, to: &queue))
        #expect(!Self.append(Self.unit(pts: 1011), session: 1, to: &queue))
        #expect(queue.byteCount == first.count - 20 + status.count)
        #expect(queue.takeAll() == [Array(first[20...]), status])
        #expect(queue.isEmpty && queue.byteCount == 0)
    }

    @Test("an access unit that no packet has room for is dropped, and its session goes on with a keyframe")
    func tooLong() throws {
        var queue = SendQueue(maximumMedia: 1000)
        let long = Self.unit(pts: 0, key: true, byteCount: AccessUnit.maximumByteCount + 1)
        #expect(!Self.lets(long, of: 1, pass: &queue))
        #expect(!Self.append(long, session: 1, to: &queue))
        #expect(!Self.lets(Self.unit(pts: 10), of: 1, pass: &queue))
        #expect(Self.append(Self.unit(pts: 10), session: 1, to: &queue))
        #expect(queue.isEmpty && queue.drops == [1: 2])
        #expect(Self.lets(Self.unit(pts: 10), of: 2, pass: &queue))
        #expect(Self.lets(Self.unit(pts: 20, key: true, byteCount: AccessUnit.maximumByteCount), of: 1, pass: &queue))
        #expect(Self.lets(Self.unit(pts: 30), of: 1, pass: &queue))
    }

    @Test("no viewer is ever sent a picture whose reference was dropped", arguments: 0..<50)
    func references(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var queue = SendQueue(maximumMedia: 200)
        var sent: [Int64] = []
        var keys: Set<Int64> = [0]
        var wantsKey = true
        for number in Int64(0)..<400 {
            let key = wantsKey || Int.random(in: 0..<40, using: &generator) == 0
            if key { keys.insert(number * 33) }
            wantsKey = !queue.append(Self.unit(pts: number * 33, key: key), session: 1)
            guard Int.random(in: 0..<6, using: &generator) == 0 else { continue }
            for case .accessUnit(_, let unit) in try Self.packets(&queue) { sent.append(unit.pts / 1000) }
        }
        #expect(!sent.isEmpty)
        for (previous, next) in zip(sent, sent.dropFirst()) {
            #expect(next == previous + 33 || keys.contains(next), "\(next) follows \(previous)")
        }
    }
}
