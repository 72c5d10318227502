import Media
import NIOCore
import Relay
import RelayTestSupport
import Testing
import Wire

@Suite("Requests for snapshots")
struct SnapshotRoundsTests {
    private static func snapshot(asked: NIODeadline) -> KeptSnapshot {
        let picture = Snapshot.Picture(
            format: .jpeg,
            captured: 1,
            orientation: 0,
            size: PictureSize(width: 2, height: 2),
            bytes: [1]
        )
        return KeptSnapshot(picture, asked: asked)
    }

    /// Returns rounds whose first one brought a snapshot that was requested at 0.
    private func withStill() throws -> SnapshotRounds {
        var rounds = SnapshotRounds()
        let place = rounds.join(since: at(0), isFresh: false)
        #expect(place == .waits(1))
        let begun = rounds.begin(request: 1, now: at(0))
        #expect(begun == false)
        let ended = rounds.end(with: Self.snapshot(asked: try #require(rounds.asked(1))))
        #expect(ended == 1)
        return rounds
    }

    @Test("shares a request with those who come while it is under way")
    func shares() {
        var rounds = SnapshotRounds()
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
        #expect(places == [.kept(Self.snapshot(asked: at(0))), .waits(2), .waits(2)])
        let isFresh = rounds.begin(request: 2, now: at(5))
        #expect(isFresh == true, "one of them wants it to be")
    }

    @Test("and comes too late for the request under way waits for the next, together with all others")
    func late() {
        var rounds = SnapshotRounds()
        _ = rounds.join(since: at(0), isFresh: false)
        _ = rounds.begin(request: 1, now: at(0))
        let places = [
            rounds.join(since: at(1), isFresh: false), rounds.join(since: at(2), isFresh: true),
            rounds.join(since: at(0), isFresh: true), rounds.join(since: at(0), isFresh: false),
        ]
        #expect(places == [.waits(2), .waits(2), .waits(2), .waits(1)])
        let early = rounds.begin(request: 2, now: at(3))
        #expect(early == nil, "one is under way")
        _ = rounds.end(with: Self.snapshot(asked: at(0)))
        let next = rounds.begin(request: 2, now: at(4))
        #expect(next == true)
        #expect(rounds.asked(1) == nil && rounds.asked(2) == at(4))
        let shared = [rounds.join(since: at(4), isFresh: true), rounds.join(since: at(4), isFresh: false)]
        #expect(shared == [.waits(2), .waits(2)])
        let ended = rounds.end(with: nil)
        #expect(ended == 2)
        // A failure leaves the last snapshot as it was.
        let last = rounds.join(since: at(0), isFresh: false)
        #expect(last == .kept(Self.snapshot(asked: at(0))))
    }

    @Test("finds none that was let go of")
    func forgotten() throws {
        var rounds = try withStill()
        rounds.forget(before: at(0))
        let before = rounds.join(since: at(0), isFresh: false)
        #expect(before == .kept(Self.snapshot(asked: at(0))))
        rounds.forget(before: at(1))
        let after = rounds.join(since: at(0), isFresh: false)
        #expect(after == .waits(2))
    }

    @Test("gets its place in the session's time, whatever the agent says")
    func pts() {
        func snapshot(captured: UInt64) -> KeptSnapshot {
            let size = PictureSize(width: 2, height: 2)
            let picture = Snapshot.Picture(format: .png, captured: captured, orientation: 0, size: size, bytes: [1])
            return KeptSnapshot(picture, asked: at(0))
        }
        #expect(snapshot(captured: 5_000_000).pts(epoch: 2_000_000) == 3000)
        #expect(snapshot(captured: 2_000_000).pts(epoch: 5_000_000) == -3000)
        #expect(snapshot(captured: .max).pts(epoch: 0) == Int64.max / 1000)
        #expect(snapshot(captured: 0).pts(epoch: .max) == -(Int64.max / 1000))
    }
}
