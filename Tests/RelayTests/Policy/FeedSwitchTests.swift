import NIOCore
import Relay
import TestSupport
import Testing
import Wire

/// A session's switch with agents that answer when a test lets them.
private struct Stage {
    var feeds: FeedSwitch
    /// The agents that encode the session, and the last request that each was sent.
    var active: Set<AgentRole> = []
    var requested: [AgentRole: UInt32] = [:]
    var orders: [FeedSwitch.Order] = []

    init(repeats: Bool = true) {
        feeds = FeedSwitch(policy: .init(repeats: repeats, fps: 30))
    }

    /// Takes the orders of that time.
    mutating func tick(_ now: Int64) {
        orders = feeds.orders(now: at(now))
        for order in orders {
            switch order {
            case .requestKeyframe(let role, let id): requested[role] = id
            case .activate(let role):
                #expect(requested[role] != nil, "what becomes active has been asked for a keyframe before")
                active.insert(role)
            case .deactivate(let role):
                active.remove(role)
                requested[role] = nil
            }
        }
    }

    mutating func link(_ role: AgentRole, _ state: SourceStatus.State? = .streaming, at now: Int64) {
        feeds.linked(role, now: at(now))
        active.remove(role)
        requested[role] = nil
        if let state { feeds.sourceReported(role, state, now: at(now)) }
        tick(now)
    }

    mutating func lose(_ role: AgentRole, _ cause: FeedSwitch.Cause? = .linkClosed, at now: Int64) {
        feeds.linkLost(role, because: cause, now: at(now))
        active.remove(role)
        requested[role] = nil
        tick(now)
    }

    mutating func report(_ role: AgentRole, _ state: SourceStatus.State, at now: Int64) {
        feeds.sourceReported(role, state, now: at(now))
        tick(now)
    }

    /// A keyframe that answers the last request. Returns whether viewers get it.
    mutating func answer(_ role: AgentRole, capturedAt captured: Int64? = nil, at now: Int64) -> Bool {
        let taken = take(role, key: true, request: requested[role] ?? 0, capturedAt: captured ?? now, at: now)
        tick(now)
        return taken
    }

    mutating func take(
        _ role: AgentRole,
        key: Bool = false,
        request: UInt32 = 0,
        capturedAt captured: Int64? = nil,
        at now: Int64
    ) -> Bool {
        let captured = at(captured ?? now).uptimeNanoseconds
        return feeds.takes(role, isKey: key, request: request, captured: captured, now: at(now))
    }

    /// Both agents are linked, and the broadcast's feeds since 0.
    static func live(repeats: Bool = true) -> Stage {
        var stage = Stage(repeats: repeats)
        stage.link(.broadcast, at: 0)
        stage.link(.standby, at: 0)
        _ = stage.answer(.broadcast, at: 0)
        return stage
    }
}

@Suite("A session's feed switch")
struct FeedSwitchTests {
    @Test("begins with the broadcast's agent; the standby's session is not active")
    func begins() {
        var stage = Stage()
        stage.link(.standby, at: 0)
        #expect(stage.active.isEmpty)
        stage.link(.broadcast, at: 10)
        #expect(stage.orders == [.requestKeyframe(.broadcast, 1), .activate(.broadcast)])
        let (delta, unasked) = (stage.take(.broadcast, at: 20), stage.take(.broadcast, key: true, at: 20))
        #expect(!delta && !unasked, "nothing before the keyframe that was asked for")
        #expect(stage.feeds.source == .none)
        let answer = stage.answer(.broadcast, at: 30)
        #expect(answer)
        #expect(stage.feeds.source == .pipewire)
        #expect(stage.feeds.record.count == 0, "the first feed is no switch")
        #expect(stage.active == [.broadcast])
    }

    @Test(
        "goes to the standby when the link is lost, at the keyframe that it asked for, and counts the cause",
        arguments: [
            FeedSwitch.Cause.linkClosed, .linkSilent, .linkFailed,
        ]
    )
    func linkLost(cause: FeedSwitch.Cause) {
        var stage = Stage.live()
        let last = stage.take(.broadcast, at: 990)
        #expect(last)
        stage.lose(.broadcast, cause, at: 1000)
        #expect(stage.orders == [.requestKeyframe(.standby, 2), .activate(.standby)], "at once")
        #expect(stage.feeds.source == .none)
        #expect(stage.feeds.staleSince == at(1000))
        let old = stage.take(.standby, key: true, request: 1, at: 1005)
        #expect(!old, "not the answer to what another agent was asked")
        let answer = stage.answer(.standby, at: 1040)
        #expect(answer)
        #expect(stage.feeds.source == .screenshot)
        #expect(stage.feeds.staleSince == nil)
        #expect(stage.feeds.record.causes == [cause: 1])
        #expect(stage.feeds.record.lastGap == .milliseconds(50))
    }

    @Test(
        "returns to the broadcast's agent with its keyframe, not sooner than a second after, and the standby sleeps again"
    )
    func returns() {
        var stage = Stage.live()
        stage.lose(.broadcast, at: 1000)
        _ = stage.answer(.standby, at: 1040)
        stage.link(.broadcast, .opening, at: 1100)
        #expect(stage.active == [.standby])
        stage.report(.broadcast, .streaming, at: 1200)
        #expect(stage.active == [.standby], "a source that comes and goes is followed no faster")
        stage.tick(2040)
        #expect(stage.active == [.broadcast, .standby])
        let meanwhile = stage.take(.standby, at: 2050)
        #expect(meanwhile, "there is no slot without a picture")
        let unasked = stage.take(.broadcast, key: true, at: 2060)
        #expect(!unasked)
        let answer = stage.answer(.broadcast, at: 2080)
        #expect(answer)
        #expect(stage.orders == [.deactivate(.standby)])
        let late = stage.take(.standby, at: 2085)
        #expect(!late)
        #expect(stage.feeds.source == .pipewire)
        #expect(stage.feeds.record.causes == [.linkClosed: 1, .returned: 1])
        #expect(stage.feeds.record.lastGap == .milliseconds(30))
    }

    @Test("goes to the standby when the source is paused or lost, and returns with a frame captured after")
    func sourceGone() {
        for (state, cause) in [(SourceStatus.State.paused, FeedSwitch.Cause.sourcePaused), (.lost, .sourceLost)] {
            var stage = Stage.live()
            stage.report(.broadcast, state, at: 2000)
            #expect(stage.active == [.broadcast, .standby])
            let repeated = stage.take(.broadcast, at: 2030)
            #expect(repeated, "the last picture goes on until another comes")
            #expect(stage.feeds.source == .none)
            #expect(stage.feeds.staleSince == at(2000))
            _ = stage.answer(.standby, at: 2050)
            #expect(stage.active == [.standby])
            #expect(stage.feeds.record.causes == [cause: 1])
            stage.report(.broadcast, .opening, at: 3500)
            stage.report(.broadcast, .streaming, at: 3600)
            #expect(stage.active == [.broadcast, .standby])
            let old = stage.answer(.broadcast, capturedAt: 1990, at: 3610)
            #expect(!old, "it shows what was there before the loss")
            stage.tick(4100)
            let new = stage.answer(.broadcast, capturedAt: 4090, at: 4110)
            #expect(new)
            #expect(stage.feeds.source == .pipewire)
        }
    }

    @Test("goes to the standby when pictures are due and none comes for three intervals and a second")
    func noPictures() {
        var stage = Stage.live()
        stage.tick(1099)
        #expect(stage.active == [.broadcast])
        stage.tick(1100)
        #expect(stage.active == [.broadcast, .standby])
        _ = stage.answer(.standby, at: 1150)
        #expect(stage.feeds.record.causes == [.noPictures: 1])
        #expect(stage.active == [.broadcast, .standby], "it goes on being asked")
        stage.tick(2000)
        let again = stage.answer(.broadcast, at: 2010)
        #expect(again)
        #expect(stage.active == [.broadcast])
        #expect(stage.feeds.source == .pipewire)
    }

    @Test("takes no agent for hung that encodes other sessions' pictures first")
    func awaitsTurn() {
        var stage = Stage.live()
        for now in stride(from: 250 as Int64, through: 5000, by: 250) {
            stage.feeds.awaitsTurn(.broadcast, now: at(now))
            stage.tick(now)
            #expect(stage.active == [.broadcast])
        }
        stage.tick(6099)
        #expect(stage.active == [.broadcast] && stage.feeds.source == .pipewire)
        stage.tick(6100)
        #expect(stage.active == [.broadcast, .standby], "it waits no more, and nothing comes")
    }

    @Test("says since when pictures have been overdue, as long as the source streams and none comes")
    func overdue() {
        var stage = Stage.live()
        stage.tick(1099)
        #expect(stage.feeds.overdueSince(of: .broadcast) == nil)
        stage.tick(1100)
        #expect(stage.feeds.overdueSince(of: .broadcast) == at(1100))
        _ = stage.answer(.standby, at: 1150)
        stage.tick(9000)
        #expect(stage.feeds.overdueSince(of: .broadcast) == at(1100), "the standby's pictures are not its")
        stage.report(.broadcast, .lost, at: 9100)
        #expect(stage.feeds.overdueSince(of: .broadcast) == nil, "without a source it owes none")
        stage.report(.broadcast, .streaming, at: 9900)
        stage.report(.broadcast, .streaming, at: 9950)
        #expect(stage.feeds.overdueSince(of: .broadcast) == at(9900))
        let back = stage.answer(.broadcast, at: 9960)
        #expect(back)
        #expect(stage.feeds.overdueSince(of: .broadcast) == nil)
        stage.tick(12_000)
        #expect(stage.feeds.overdueSince(of: .broadcast) == at(12_000))
        stage.lose(.broadcast, at: 12_100)
        #expect(stage.feeds.overdueSince(of: .broadcast) == nil)
    }

    @Test("says the same of a standby that feeds and stops, whose pictures are then no source")
    func standbyOverdue() {
        var stage = Stage.live()
        stage.lose(.broadcast, at: 1000)
        _ = stage.answer(.standby, at: 1040)
        stage.tick(2139)
        #expect(stage.feeds.overdueSince(of: .standby) == nil && stage.feeds.source == .screenshot)
        stage.tick(2140)
        #expect(stage.feeds.overdueSince(of: .standby) == at(2140) && stage.feeds.source == .none)
        #expect(stage.active == [.standby], "it goes on being asked")
        let again = stage.take(.standby, at: 3000)
        #expect(again && stage.feeds.overdueSince(of: .standby) == nil && stage.feeds.source == .screenshot)
        stage.tick(9000)
        #expect(stage.feeds.overdueSince(of: .standby) == at(9000))
        stage.lose(.standby, .noPictures, at: 9100)
        stage.link(.standby, at: 9200)
        #expect(stage.active == [.standby] && stage.feeds.overdueSince(of: .standby) == nil)
    }

    @Test("says the same of a standby that is asked and gives no first picture")
    func standbyHangsAtOnce() {
        var stage = Stage.live()
        _ = stage.take(.broadcast, at: 990)
        stage.report(.broadcast, .lost, at: 1000)
        #expect(stage.active.contains(.standby))
        stage.tick(2099)
        #expect(stage.feeds.overdueSince(of: .standby) == nil)
        stage.tick(2100)
        #expect(stage.feeds.overdueSince(of: .standby) == at(2100))
        #expect(stage.feeds.overdueSince(of: .broadcast) == nil, "without a source it owes none")
        stage.lose(.standby, .noPictures, at: 12_100)
        stage.link(.standby, at: 12_200)
        #expect(stage.feeds.overdueSince(of: .standby) == nil)
        let answer = stage.answer(.standby, at: 12_300)
        #expect(answer && stage.feeds.source == .screenshot)
    }

    @Test("says the same of a broadcast's agent that is asked to return and gives no picture")
    func hangsAtReturn() {
        var stage = Stage.live()
        stage.report(.broadcast, .lost, at: 1000)
        _ = stage.answer(.standby, at: 1040)
        stage.report(.broadcast, .streaming, at: 3000)
        #expect(stage.active == [.broadcast, .standby])
        _ = stage.take(.standby, at: 4000)
        stage.tick(4100)
        #expect(stage.feeds.overdueSince(of: .broadcast) == at(4100))
        #expect(stage.feeds.overdueSince(of: .standby) == nil && stage.feeds.source == .screenshot)
        let back = stage.answer(.broadcast, at: 4200)
        #expect(back && stage.feeds.source == .pipewire && stage.feeds.overdueSince(of: .broadcast) == nil)
    }

    @Test("a keyframe that comes when it had been given up is an answer: nothing is overdue")
    func lateAnswer() {
        var stage = Stage.live(repeats: false)
        _ = stage.feeds.requestKeyframe(now: at(1000))
        stage.tick(1000)
        let asked = stage.requested[.broadcast] ?? 0
        for now in stride(from: Int64(1500), through: 2000, by: 500) { stage.tick(now) }
        // It is asked for ten times, half a second apart.
        for now in stride(from: Int64(2500), through: 8000, by: 500) { stage.tick(now) }
        let late = stage.take(.broadcast, key: true, request: asked, at: 9000)
        #expect(late)
        stage.tick(60_000)
        #expect(stage.feeds.overdueSince(of: .broadcast) == nil && stage.feeds.source == .pipewire)
    }

    @Test("waits for no picture of a still screen without repeats, unless a keyframe was asked for")
    func withoutRepeats() {
        var stage = Stage.live(repeats: false)
        stage.tick(60_000)
        #expect(stage.active == [.broadcast])
        #expect(stage.feeds.source == .pipewire)
        let request = stage.feeds.requestKeyframe(now: at(60_000))
        #expect(request != nil)
        stage.tick(61_050)
        #expect(stage.active == [.broadcast])
        stage.tick(61_100)
        #expect(stage.active == [.broadcast, .standby])
    }

    @Test(
        "shows the standby's pictures when the broadcast's first one does not come, or its source is lost from the start"
    )
    func neverBegins() {
        var slow = Stage()
        slow.link(.broadcast, .opening, at: 0)
        slow.link(.standby, at: 500)
        slow.tick(1099)
        #expect(slow.active == [.broadcast])
        slow.tick(1100)
        #expect(slow.active == [.broadcast, .standby])
        let shot = slow.answer(.standby, at: 1150)
        #expect(shot)
        #expect(slow.feeds.record.count == 0)
        #expect(slow.feeds.source == .screenshot)

        var lost = Stage()
        lost.link(.broadcast, .lost, at: 0)
        lost.link(.standby, at: 500)
        #expect(lost.active.contains(.standby))
    }

    @Test("keeps what is alive when both sources are gone, and says that it is stale")
    func bothGone() {
        var stage = Stage.live()
        stage.lose(.broadcast, at: 1000)
        _ = stage.answer(.standby, at: 1050)
        stage.report(.standby, .lost, at: 3000)
        let repeated = stage.take(.standby, at: 3010)
        #expect(repeated)
        #expect(stage.feeds.source == .none)
        #expect(stage.feeds.staleSince == at(3000))
        stage.lose(.standby, at: 4000)
        #expect(stage.feeds.current == nil)
        #expect(stage.feeds.staleSince == at(3000))
        stage.link(.standby, .lost, at: 4200)
        #expect(stage.active == [.standby], "it is asked for what it has: a slate, in the end")
        stage.link(.broadcast, at: 4300)
        let back = stage.answer(.broadcast, at: 4310)
        #expect(back)
        #expect(stage.feeds.staleSince == nil)
        #expect(stage.feeds.record.causes == [.linkClosed: 2])
    }

    @Test("that is stopped counts nothing")
    func stopped() {
        var stage = Stage.live()
        stage.lose(.broadcast, nil, at: 1000)
        #expect(stage.active.isEmpty, "the standby's last moments are not for showing")
        stage.lose(.standby, nil, at: 1001)
        stage.link(.broadcast, at: 60_000)
        _ = stage.answer(.broadcast, at: 60_010)
        #expect(stage.feeds.record.count == 0)
    }

    @Test("repeats an unanswered request at most every half second, under new ids in the end")
    func repeatsRequests() {
        var stage = Stage()
        stage.link(.broadcast, at: 0)
        var sent: [(time: Int64, id: UInt32)] = [(0, 1)]
        for now in stride(from: Int64(100), through: 10_000, by: 100) {
            stage.tick(now)
            for case .requestKeyframe(.broadcast, let id) in stage.orders { sent.append((now, id)) }
        }
        #expect(zip(sent, sent.dropFirst()).allSatisfy { $1.time - $0.time >= 500 })
        #expect(sent.count >= 19)
        #expect(Set(sent.map(\.id)).count > 1)
        let late = stage.take(.broadcast, key: true, request: 1, at: 10_010)
        #expect(late, "an answer to an earlier one is an answer")
    }

    @Test("has one keyframe request in flight, whoever asks")
    func hasOneRequestInFlight() {
        var stage = Stage.live()
        let first = stage.feeds.requestKeyframe(now: at(100))
        let second = stage.feeds.requestKeyframe(now: at(110))
        #expect(first != nil && first == second)
        let other = stage.take(.broadcast, key: true, at: 120)
        #expect(other)
        let third = stage.feeds.requestKeyframe(now: at(130))
        #expect(third == first, "another keyframe does not answer it")
        let answer = stage.take(.broadcast, key: true, request: first ?? 0, at: 140)
        #expect(answer)
        let fourth = stage.feeds.requestKeyframe(now: at(150))
        #expect(fourth == first.map { $0 + 1 })
    }

    @Test("follows a flapping source at most once a second")
    func flaps() {
        var stage = Stage.live()
        var now: Int64 = 0
        while now < 60_000 {
            now += 100
            stage.report(.broadcast, now / 100 % 2 == 0 ? .streaming : .lost, at: now)
            for role in [AgentRole.broadcast, .standby] where stage.active.contains(role) {
                // Answers what it was asked, and else goes on.
                if stage.feeds.current == role {
                    _ = stage.take(role, at: now)
                } else {
                    _ = stage.answer(role, at: now)
                }
            }
        }
        #expect(stage.feeds.record.count > 2)
        #expect(stage.feeds.record.count <= 60)
    }

    @Test("gives viewers no picture without its reference, nor an older one, whatever happens", arguments: 0..<20)
    func holdsInRandomSequences(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var stage = Stage()
        var linked: Set<AgentRole> = []
        // What each agent's encoder last made, and what viewers saw last: (link, number).
        var made: [AgentRole: Int] = [:]
        var links: [AgentRole: Int] = [:]
        var seen: (AgentRole, link: Int, number: Int)?
        var now: Int64 = 0
        for _ in 0..<5000 {
            now += .random(in: 0...200, using: &generator)
            let role = Bool.random(using: &generator) ? AgentRole.broadcast : .standby
            switch Int.random(in: 0..<12, using: &generator) {
            case 0 where linked.contains(role):
                linked.remove(role)
                stage.lose(role, Bool.random(using: &generator) ? .linkClosed : nil, at: now)
            case 1 where !linked.contains(role):
                linked.insert(role)
                links[role, default: 0] += 1
                stage.link(role, nil, at: now)
            case 2 where linked.contains(role):
                let states: [SourceStatus.State] = [.opening, .streaming, .streaming, .paused, .lost]
                stage.report(role, states.randomElement(using: &generator) ?? .streaming, at: now)
            case 3:
                _ = stage.feeds.requestKeyframe(now: at(now))
                stage.tick(now)
            case 4: stage.tick(now)
            default:
                guard linked.contains(role) else { continue }
                made[role, default: 0] += 1
                let isKey = Int.random(in: 0..<5, using: &generator) == 0
                let request = isKey && Bool.random(using: &generator) ? stage.requested[role] ?? 0 : 0
                guard stage.take(role, key: isKey, request: request, at: now) else { continue }
                let picture = (role, link: links[role, default: 0], number: made[role, default: 0])
                if !isKey {
                    #expect(seen?.0 == role && seen?.link == picture.link, "its reference came from elsewhere")
                    #expect(seen?.number == picture.number - 1, "its reference was left out")
                }
                seen = picture
                stage.tick(now)
            }
            if let current = stage.feeds.current {
                #expect(linked.contains(current))
                #expect(stage.active.contains(current))
            }
        }
    }
}
