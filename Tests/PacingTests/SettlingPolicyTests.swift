import Pacing
import Testing

@Suite("Settling")
struct SettlingPolicyTests {
    private static func settled() -> SettlingPolicy {
        var policy = SettlingPolicy()
        for _ in 0..<SettlingPolicy.fewestRefinements { policy.repeatEncoded(isCapped: false) }
        return policy
    }

    @Test("a picture settles with its fourth repeat when the cap does not hold it down")
    func few() {
        var policy = SettlingPolicy()
        for _ in 1..<SettlingPolicy.fewestRefinements {
            policy.repeatEncoded(isCapped: false)
            #expect(!policy.isSettled)
        }
        policy.repeatEncoded(isCapped: false)
        #expect(policy.isSettled)
    }

    @Test("under the cap it is refined until it no longer improves, or long enough")
    func capped() {
        var policy = SettlingPolicy()
        for _ in 0..<10 { policy.repeatEncoded(isCapped: true) }
        #expect(!policy.isSettled)
        var other = policy
        other.repeatEncoded(isCapped: false)
        #expect(other.isSettled)
        for _ in 10..<SettlingPolicy.mostRefinements { policy.repeatEncoded(isCapped: true) }
        #expect(policy.isSettled)
    }

    @Test("a new picture, and a keyframe that the cap has made worse, begin anew; a good keyframe does not")
    func anew() {
        var policy = Self.settled()
        policy.keyframeEncoded(isCapped: false)
        #expect(policy.isSettled)
        policy.keyframeEncoded(isCapped: true)
        #expect(policy == SettlingPolicy())
        policy = Self.settled()
        policy.pictureTaken()
        #expect(policy == SettlingPolicy())
        policy = Self.settled()
        policy.pictureEncoded(isCapped: true, fps: 30)
        #expect(policy == SettlingPolicy())
    }

    @Test(
        "a picture that the cap did not hold down is refined when none has followed for a quarter of a second",
        arguments: [(4, 1), (30, 8), (60, 15)]
    )
    func patience(fps: Int, repeats: Int) {
        var policy = SettlingPolicy()
        for _ in 0..<3 {
            policy.pictureEncoded(isCapped: false, fps: fps)
            for _ in 0..<repeats {
                #expect(!policy.isRefining && !policy.isSettled)
                policy.repeatSkipped()
            }
            #expect(policy.isRefining)
        }
        for _ in 0..<SettlingPolicy.fewestRefinements {
            #expect(policy.isRefining)
            policy.repeatEncoded(isCapped: false)
        }
        policy.repeatSkipped()
        #expect(policy.isSettled && !policy.isRefining)
        policy.pictureEncoded(isCapped: false, fps: fps)
        policy.keyframeEncoded(isCapped: false)
        #expect(policy.isRefining, "a keyframe is a refinement like any other")
        policy.pictureEncoded(isCapped: true, fps: fps)
        #expect(policy.isRefining)
    }

    @Test("keyframes in quick succession do not keep a picture from settling")
    func keyframes() {
        var policy = SettlingPolicy()
        for _ in 1..<SettlingPolicy.fewestRefinements {
            policy.keyframeEncoded(isCapped: false)
            #expect(!policy.isSettled)
        }
        policy.keyframeEncoded(isCapped: false)
        #expect(policy.isSettled)
    }
}
