import Pacing
import Testing

@Suite("Keyframes")
struct KeyframePolicyTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("the first picture is a keyframe, and the next when the interval is over")
    func byTime() {
        var policy = KeyframePolicy(interval: 2 * Self.second, staticInterval: 2 * Self.second, slotInterval: 1)
        #expect(policy.wantsKeyframe(at: 5))
        let answered = policy.keyframeMade(at: 5)
        #expect(answered == 0)
        #expect(!policy.wantsKeyframe(at: 5 + 2 * Self.second - 1))
        #expect(policy.wantsKeyframe(at: 5 + 2 * Self.second))
    }

    @Test("slots that a busy machine missed bring the next keyframe no nearer")
    func missedSlots() {
        let slot = Self.second / 10
        var policy = KeyframePolicy(interval: 2 * Self.second, staticInterval: 2 * Self.second, slotInterval: slot)
        policy.missedSlots = 7
        _ = policy.keyframeMade(at: 0)
        policy.missedSlots += 20
        #expect(!policy.wantsKeyframe(at: 2 * Self.second))
        #expect(!policy.wantsKeyframe(at: 4 * Self.second - slot))
        #expect(policy.wantsKeyframe(at: 4 * Self.second))
        policy.request(1)
        #expect(policy.wantsKeyframe(at: Self.second), "one that is asked for comes as soon as ever")
    }

    @Test("requests are coalesced, answered once with the newest id, and kept half a second apart")
    func onRequest() {
        var policy = KeyframePolicy(interval: 60 * Self.second, staticInterval: 60 * Self.second, slotInterval: 1)
        _ = policy.keyframeMade(at: 0)
        policy.request(7)
        policy.request(8)
        #expect(!policy.wantsKeyframe(at: Self.second / 2 - 1))
        #expect(policy.wantsKeyframe(at: Self.second / 2))
        let answered = policy.keyframeMade(at: Self.second / 2)
        #expect(answered == 8)
        #expect(!policy.wantsKeyframe(at: 2 * Self.second))
    }

    @Test("a keyframe that the session itself asks for answers no request, and takes the place of none")
    func ownKeyframe() {
        var policy = KeyframePolicy(interval: 60 * Self.second, staticInterval: 60 * Self.second, slotInterval: 1)
        _ = policy.keyframeMade(at: 0)
        policy.ask()
        #expect(policy.demandTime == Self.second / 2)
        #expect(policy.wantsKeyframe(at: Self.second / 2))
        let first = policy.keyframeMade(at: Self.second / 2)
        #expect(first == 0)
        #expect(policy.demandTime == nil)
        policy.request(9)
        policy.ask()
        let second = policy.keyframeMade(at: Self.second)
        #expect(second == 9)
        #expect(policy.demandTime == nil)
    }

    @Test("at another rate the last slot before the interval's end is another one")
    func anotherRate() {
        var policy = KeyframePolicy(
            interval: 2 * Self.second,
            staticInterval: 2 * Self.second,
            slotInterval: Self.second / 2
        )
        _ = policy.keyframeMade(at: 0)
        #expect(policy.wantsKeyframe(at: 2 * Self.second - Self.second / 4))
        policy.changeRate(slotInterval: Self.second / 8)
        #expect(!policy.wantsKeyframe(at: 2 * Self.second - Self.second / 4))
        #expect(policy.wantsKeyframe(at: 2 * Self.second - Self.second / 9))
    }

    @Test("a lost picture makes the next one a keyframe at once")
    func afterALoss() {
        var policy = KeyframePolicy(interval: 60 * Self.second, staticInterval: 60 * Self.second, slotInterval: 1)
        _ = policy.keyframeMade(at: 0)
        policy.restart()
        #expect(policy.wantsKeyframe(at: 1))
    }

    @Test("the time between keyframes is the interval, in slots, never one more", arguments: [1, 5, 15, 30, 60, 240])
    func inSlots(fps: Int) {
        var clock = SlotClock(fps: fps)
        var policy = KeyframePolicy(
            interval: 2 * Self.second,
            staticInterval: 2 * Self.second,
            slotInterval: clock.interval()
        )
        var keyframes: [Int] = []
        clock.begin(at: 123_456_789)
        for picture in 0..<(6 * fps + 1) {
            let slot = clock.takeSlot(at: clock.due ?? 0)
            if policy.wantsKeyframe(at: slot) {
                keyframes.append(picture)
                _ = policy.keyframeMade(at: slot)
            }
        }
        #expect(keyframes == [0, 2 * fps, 4 * fps, 6 * fps])
    }

    @Test(
        "a screen that is static has keyframes at the longer interval, and motion that begins again the shorter one from then on"
    )
    func staticScreen() {
        var policy = KeyframePolicy(interval: 2 * Self.second, staticInterval: 10 * Self.second, slotInterval: 1)
        _ = policy.keyframeMade(at: 100 * Self.second)
        // The keyframe comes when the screen has been static for the shorter interval.
        for slot in 101...102 {
            #expect(!policy.wantsKeyframe(at: UInt64(slot) * Self.second))
            policy.pictureRepeated(at: UInt64(slot) * Self.second)
        }
        #expect(policy.wantsKeyframe(at: 103 * Self.second))
        _ = policy.keyframeMade(at: 103 * Self.second)
        for slot in 104...112 {
            #expect(!policy.wantsKeyframe(at: UInt64(slot) * Self.second))
            policy.pictureRepeated(at: UInt64(slot) * Self.second)
        }
        #expect(policy.wantsKeyframe(at: 113 * Self.second))
        _ = policy.keyframeMade(at: 113 * Self.second)
        policy.pictureRepeated(at: 116 * Self.second)
        policy.screenChanged()
        #expect(!policy.wantsKeyframe(at: 116 * Self.second + 1))
        #expect(!policy.wantsKeyframe(at: 118 * Self.second - 1))
        #expect(policy.wantsKeyframe(at: 118 * Self.second))
    }

    @Test("a keyframe is asked for on a static screen as soon as on a moving one")
    func requestOnStaticScreen() {
        var policy = KeyframePolicy(interval: 2 * Self.second, staticInterval: 10 * Self.second, slotInterval: 1)
        _ = policy.keyframeMade(at: 100 * Self.second)
        policy.pictureRepeated(at: 103 * Self.second)
        policy.request(7)
        #expect(policy.wantsKeyframe(at: 103 * Self.second))
        #expect(policy.keyframeMade(at: 103 * Self.second) == 7)
    }

    @Test("a costly keyframe of a static screen is not made again before its worth is used up, unless it is asked for")
    func costlyKeyframe() {
        var policy = KeyframePolicy(interval: 2 * Self.second, staticInterval: 10 * Self.second, slotInterval: 1)
        _ = policy.keyframeMade(at: 100 * Self.second, worth: 15 * Self.second)
        policy.pictureRepeated(at: 114 * Self.second)
        #expect(!policy.wantsKeyframe(at: 115 * Self.second - 1))
        #expect(policy.wantsKeyframe(at: 115 * Self.second))
        policy.request(7)
        #expect(policy.wantsKeyframe(at: 114 * Self.second))
        _ = policy.keyframeMade(at: 115 * Self.second)
        policy.pictureRepeated(at: 124 * Self.second)
        #expect(policy.wantsKeyframe(at: 125 * Self.second))
    }

    @Test("motion gets its keyframes by time, however much the last one cost")
    func costlyKeyframeAndMotion() {
        var policy = KeyframePolicy(interval: 2 * Self.second, staticInterval: 10 * Self.second, slotInterval: 1)
        _ = policy.keyframeMade(at: 100 * Self.second, worth: 15 * Self.second)
        #expect(policy.wantsKeyframe(at: 102 * Self.second))
    }

    @Test("pictures that the relay has repeated count as if they had been repeated here")
    func repeatedElsewhere() {
        var policy = KeyframePolicy(interval: 2 * Self.second, staticInterval: 10 * Self.second, slotInterval: 1)
        _ = policy.keyframeMade(at: 100 * Self.second)
        policy.keyframeRepeated(upTo: 128 * Self.second, lastKeyframe: 120 * Self.second)
        policy.screenChanged()
        #expect(!policy.wantsKeyframe(at: 130 * Self.second - 1))
        #expect(policy.wantsKeyframe(at: 130 * Self.second))
        policy.request(7)
        #expect(policy.wantsKeyframe(at: 129 * Self.second))
    }
}
