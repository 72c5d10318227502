import Media
import NIOCore
import Relay
import RelayTestSupport
import Testing
import Wire

@Suite("Who wants a still")
struct StillRoundsTests {
    private static func still(asked: NIODeadline) -> KeptStill {
        let picture = Still.Picture(
            format: .jpeg,
            captured: 1,
            orientation: 0,
            size: PictureSize(width: 2, height: 2),
            bytes: [1]
        )
        return KeptStill(picture, asked: asked)
    }

    /// Rounds of which the first brought a still that was asked for at 0.
    private func withStill() throws -> StillRounds {
        var rounds = StillRounds()
        let place = rounds.join(since: at(0), isFresh: false)
        #expect(place == .waits(1))
        let begun = rounds.begin(request: 1, now: at(0))
        #expect(begun == false)
        let ended = rounds.end(with: Self.still(asked: try #require(rounds.asked(1))))
        #expect(ended == 1)
        return rounds
    }

    @Test("shares a request with those who come while it is under way")
    func shares() {
        var rounds = StillRounds()
        let places = [rounds.join(since: at(-1000), isFresh: false), rounds.join(since: at(0), isFresh: false)]
        #expect(places == [.waits(1), .waits(1)])
        let requests = [rounds.begin(request: 1, now: at(0)), rounds.begin(request: 2, now: at(0))]
        #expect(requests == [false, nil])
        let late = rounds.join(since: at(0), isFresh: false)
        #expect(late == .waits(1))
        let (first, second) = (rounds.end(with: nil), rounds.end(with: nil))
        #expect(first == 1 && second == nil)
        let next = rounds.begin(request: 2, now: at(1))
        #expect(next == nil, "nobody wants another")
    }

    @Test("gets the last one when it was asked for late enough, and no fresh one ever is")
    func kept() throws {
        var rounds = try withStill()
        let places = [
            rounds.join(since: at(0), isFresh: false), rounds.join(since: at(0) + .nanoseconds(1), isFresh: false),
            rounds.join(since: at(0), isFresh: true),
        ]
        #expect(places == [.kept(Self.still(asked: at(0))), .waits(2), .waits(2)])
        let isFresh = rounds.begin(request: 2, now: at(5))
        #expect(isFresh == true, "one of them wants it to be")
    }

    @Test("and comes too late for the request under way waits for the next, together with all others")
    func late() {
        var rounds = StillRounds()
        _ = rounds.join(since: at(0), isFresh: false)
        _ = rounds.begin(request: 1, now: at(0))
        let places = [
            rounds.join(since: at(1), isFresh: false), rounds.join(since: at(2), isFresh: true),
            rounds.join(since: at(0), isFresh: true), rounds.join(since: at(0), isFresh: false),
        ]
        #expect(places == [.waits(2), .waits(2), .waits(2), .waits(1)])
        let early = rounds.begin(request: 2, now: at(3))
        #expect(early == nil, "one is under way")
        _ = rounds.end(with: Self.still(asked: at(0)))
        let next = rounds.begin(request: 2, now: at(4))
        #expect(next == true)
        #expect(rounds.asked(1) == nil && rounds.asked(2) == at(4))
        let shared = [rounds.join(since: at(4), isFresh: true), rounds.join(since: at(4), isFresh: false)]
        #expect(shared == [.waits(2), .waits(2)])
        let ended = rounds.end(with: nil)
        #expect(ended == 2)
        // What failed leaves the last still as it was.
        let last = rounds.join(since: at(0), isFresh: false)
        #expect(last == .kept(Self.still(asked: at(0))))
    }

    @Test("finds none that was let go of")
    func forgotten() throws {
        var rounds = try withStill()
        rounds.forget(before: at(0))
        let before = rounds.join(since: at(0), isFresh: false)
        #expect(before == .kept(Self.still(asked: at(0))))
        rounds.forget(before: at(1))
        let after = rounds.join(since: at(0), isFresh: false)
        #expect(after == .waits(2))
    }

    @Test("gets its place in the session's time, whatever the agent says")
    func pts() {
        func still(captured: UInt64) -> KeptStill {
            let size = PictureSize(width: 2, height: 2)
            let picture = Still.Picture(format: .png, captured: captured, orientation: 0, size: size, bytes: [1])
            return KeptStill(picture, asked: at(0))
        }
        #expect(still(captured: 5_000_000).pts(epoch: 2_000_000) == 3000)
        #expect(still(captured: 2_000_000).pts(epoch: 5_000_000) == -3000)
        #expect(still(captured: .max).pts(epoch: 0) == Int64.max / 1000)
        #expect(still(captured: 0).pts(epoch: .max) == -(Int64.max / 1000))
    }
}
