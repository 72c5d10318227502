import HeliographClient
import Testing

@Suite("Units that wait for a program")
struct UnitQueueTests {
    private static let format = PictureFormat(codec: "avc3.42C01F", width: 640, height: 360, parameterSets: [])

    private static func unit(_ number: Int, _ content: MediaUnit.Content, isKeyframe: Bool, size: Int = 1) -> MediaUnit
    {
        MediaUnit(
            content: content,
            pts: Int64(number),
            isKeyframe: isKeyframe,
            captured: 0,
            relayed: 0,
            received: 0,
            bytes: [UInt8](repeating: 0, count: size)
        )
    }

    private static func picture(_ number: Int, isKeyframe: Bool = false, size: Int = 1) -> MediaUnit {
        unit(number, .picture(format), isKeyframe: isKeyframe, size: size)
    }

    private static func packet(_ number: Int) -> MediaUnit { unit(number, .sound(track: 1), isKeyframe: true) }

    private static func all(of queue: inout UnitQueue) -> [(pts: Int64, dropped: Int)] {
        var found: [(pts: Int64, dropped: Int)] = []
        while let unit = queue.take() { found.append((unit.pts, unit.dropped)) }
        return found
    }

    @Test("come in their order, while they fit")
    func order() {
        var queue = UnitQueue()
        for number in 0..<UnitQueue.mostUnits { queue.append(Self.picture(number, isKeyframe: number == 0)) }
        let found = Self.all(of: &queue)
        #expect(found.map(\.pts) == Array(0..<Int64(UnitQueue.mostUnits)))
        #expect(found.allSatisfy { $0.dropped == 0 })
        #expect(!queue.want() && queue.dropped == 0)
    }

    @Test(
        "of pictures that do not fit, a keyframe is the next after the program wants one, and says how many are missing"
    )
    func overflow() {
        var queue = UnitQueue()
        for number in 0..<UnitQueue.mostUnits { queue.append(Self.picture(number, isKeyframe: number == 0)) }
        queue.append(Self.picture(1000))
        // Nothing waits for a program that takes nothing.
        queue.append(Self.picture(1001, isKeyframe: true))
        #expect(queue.isEmpty)
        let (asks, asksAgain) = (queue.want(), queue.want())
        #expect(asks && !asksAgain)
        queue.append(Self.picture(1002))
        queue.append(Self.picture(1003, isKeyframe: true))
        queue.append(Self.picture(1004))
        let found = Self.all(of: &queue)
        #expect(found.map(\.pts) == [1003, 1004])
        #expect(found.map(\.dropped) == [UnitQueue.mostUnits + 3, 0])
        #expect(queue.dropped == UnitQueue.mostUnits + 3)
    }

    @Test("of sound that does not fit, the oldest packets are missing")
    func sound() {
        var queue = UnitQueue()
        for number in 0..<(UnitQueue.mostUnits + 3) { queue.append(Self.packet(number)) }
        let found = Self.all(of: &queue)
        #expect(found.map(\.pts) == Array(3..<Int64(UnitQueue.mostUnits + 3)))
        #expect(found.map(\.dropped) == [3] + [Int](repeating: 0, count: UnitQueue.mostUnits - 1))
    }

    @Test("are bounded in bytes, but one always fits")
    func bytes() {
        var queue = UnitQueue()
        queue.append(Self.picture(0, isKeyframe: true, size: UnitQueue.mostBytes + 1))
        #expect(!queue.isEmpty)
        queue.append(Self.picture(1))
        let asks = queue.want()
        #expect(queue.isEmpty && asks)
        queue.append(Self.picture(2, isKeyframe: true))
        let found = Self.all(of: &queue)
        #expect(found.map(\.pts) == [2] && found.map(\.dropped) == [2])
    }

    @Test("that the relay has left out are counted with the next one")
    func missed() {
        var queue = UnitQueue()
        queue.miss(.max)
        queue.miss(1)
        _ = Self.all(of: &queue)
        queue = UnitQueue()
        queue.miss(7)
        queue.append(Self.picture(0, isKeyframe: true))
        #expect(Self.all(of: &queue).map(\.dropped) == [7])
    }
}
