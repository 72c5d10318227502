import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("An agent link's state machine")
struct LinkStateMachineTests {
    private static let token = LinkToken.random()
    private static let policy = LinkStateMachine.Policy(
        token: token,
        helloTimeout: .seconds(5),
        watchdog: .seconds(6)
    )

    private static func hello(token: String = token.value) -> Hello {
        Hello(token: token, device: "default", source: "portal", pid: 1, release: "test")
    }

    private func admitted() -> LinkStateMachine {
        var link = LinkStateMachine(policy: Self.policy, now: at(0))
        _ = link.received(.hello(Self.hello()))
        _ = link.judged(Self.hello(), nil)
        return link
    }

    @Test("admits a HELLO with the right token")
    func admitsTheRightToken() {
        var link = LinkStateMachine(policy: Self.policy, now: at(0))
        #expect(link.received(.hello(Self.hello())) == .judge(Self.hello()))
        #expect(link.takesBytes && link.maximumLength == nil, "what follows HELLO waits until that is known")
        #expect(link.judged(Self.hello(), nil) == .admit(Self.hello()))
        #expect(link.judged(Self.hello(), nil) == .nothing)
    }

    @Test(
        "refuses a wrong token without looking at anything else",
        arguments: ["", "x", token.value + "x", String(token.value.dropLast())]
    )
    func refusesAWrongToken(token: String) {
        var link = LinkStateMachine(policy: Self.policy, now: at(0))
        #expect(code(link.received(.hello(Self.hello(token: token)))) == .wrongToken)
        #expect(link.wake == nil)
    }

    @Test("ends an agent that reports without end; pictures are not counted")
    func endsAFlood() {
        var link = admitted()
        let picture = Packet.accessUnit(1, SampleStream.accessUnit(0, key: true))
        let report = Packet.status(SourceStatus(state: .streaming))
        let pictures = (0..<5000).map { _ in link.received(picture) }
        #expect(pictures.allSatisfy { $0 == .deliver })
        let snapshot = Packet.snapshot(1, Snapshot(request: 1, outcome: .refusal(.busy)))
        let snapshots = (0..<5000).map { _ in link.received(snapshot) }
        #expect(snapshots.allSatisfy { $0 == .deliver })
        let reports = (0..<2000).map { _ in link.received(report) }
        #expect(reports.allSatisfy { $0 == .deliver })
        // One second later there is room for one second's worth.
        link.bytesArrived(now: at(1000))
        let later = (0..<100).map { _ in link.received(report) }
        #expect(later.allSatisfy { $0 == .deliver })
        let last = link.received(report)
        #expect(code(last) == .protocolError)
        let after = link.received(report)
        #expect(after == .nothing)
    }

    @Test("counts REST and WAKE only if their session had no use for them")
    func countsNeedlessRests() {
        var link = admitted()
        let rest = Packet.rest(1, Rest(keyframe: 0, slot: 0, fps: 30, keyframeInterval: 1))
        let delivered = (0..<5000).flatMap { _ in [link.received(rest), link.received(.wake(1))] }
        #expect(delivered.allSatisfy { $0 == .deliver })
        let needless = (0..<2000).map { _ in link.reported() }
        #expect(needless.allSatisfy { $0 == .nothing })
        #expect(code(link.reported()) == .protocolError)
        #expect(link.reported() == .nothing)
    }

    @Test("refuses an agent if the check takes too long")
    func refusesWithoutAVerdict() {
        var link = LinkStateMachine(policy: Self.policy, now: at(0))
        _ = link.received(.hello(Self.hello()))
        #expect(code(link.timerFired(now: at(5000))) == .helloTimeout)
        #expect(link.judged(Self.hello(), nil) == .nothing)
    }

    @Test("loses an agent that reads nothing, once")
    func losesAStalledAgent() {
        var link = admitted()
        let (first, second) = (link.stalled(), link.stalled())
        #expect(first == .lose(.stalled, nil))
        #expect(second == .nothing)
        #expect(link.wake == nil)
        var stranger = LinkStateMachine(policy: Self.policy, now: at(0))
        let action = stranger.stalled()
        #expect(action == .nothing)
    }

    @Test("tells an agent whose place a newer one takes, once, and only an admitted one")
    func tellsADisplacedAgent() {
        var link = admitted()
        guard case .lose(.displaced, let reject?) = link.displaced() else {
            Issue.record("a REJECT is expected")
            return
        }
        #expect(reject.code == .displaced)
        let (again, closed) = (link.displaced(), link.closed())
        #expect(again == .nothing)
        #expect(closed == .nothing)
        var stranger = LinkStateMachine(policy: Self.policy, now: at(0))
        let action = stranger.displaced()
        #expect(action == .nothing)
    }

    @Test("refuses an agent for each of these reasons")
    func refusesOnAnObjection() {
        var link = LinkStateMachine(policy: Self.policy, now: at(0))
        let objection = Reject(code: .unknownDevice, reason: "none such")
        #expect(link.received(.hello(Self.hello())) == .judge(Self.hello()))
        #expect(link.judged(Self.hello(), objection) == .refuse(objection))
        #expect(!link.takesBytes)
    }

    @Test("refuses any packet before HELLO")
    func refusesAnyPacketBeforeHello() {
        var link = LinkStateMachine(policy: Self.policy, now: at(0))
        let action = link.received(.status(SourceStatus(state: .opening)))
        #expect(code(action) == .protocolError)
    }

    @Test("refuses when no HELLO comes in time, to the nanosecond")
    func refusesWithoutHello() {
        var link = LinkStateMachine(policy: Self.policy, now: at(0))
        link.bytesArrived(now: at(4999))
        #expect(link.wake == at(5000))
        #expect(link.timerFired(now: at(5000) - .nanoseconds(1)) == .nothing)
        #expect(code(link.timerFired(now: at(5000))) == .helloTimeout)
    }

    @Test("loses a link that is silent for the watchdog's time")
    func losesASilentLink() {
        var link = admitted()
        link.bytesArrived(now: at(1000))
        #expect(link.wake == at(7000))
        #expect(link.timerFired(now: at(6999)) == .nothing)
        #expect(link.timerFired(now: at(7000)) == .nothing, "its bytes may have come")
        #expect(link.wake == at(7020))
        #expect(link.timerFired(now: at(7020)) == .lose(.silent(.seconds(6)), nil))
        #expect(link.closed() == .nothing)
    }

    @Test("keeps a link whose bytes were waiting when its time was over")
    func looksTwice() {
        var link = admitted()
        link.bytesArrived(now: at(1000))
        for time: Int64 in [7000, 14_000] {
            #expect(link.timerFired(now: at(time)) == .nothing)
            link.bytesArrived(now: at(time + 5))
            #expect(link.timerFired(now: at(time + 20)) == .nothing)
            #expect(link.wake == at(time + 6005))
        }
    }

    @Test("tells an admitted agent what it did wrong before it loses it")
    func tellsWhatWentWrong() {
        var link = admitted()
        guard case .lose(.protocolError, let reject?) = link.failed(.badMagic(0)) else {
            Issue.record("a REJECT is expected")
            return
        }
        #expect(reject.code == .protocolError)
        #expect(reject.reason == WireError.badMagic(0).description)
    }

    @Test("loses an agent that says HELLO twice")
    func losesASecondHello() {
        var link = admitted()
        #expect(code(link.received(.hello(Self.hello()))) == .protocolError)
    }

    @Test("admits at most once, loses at most once, and only what it admitted, whatever happens")
    func holdsInRandomSequences() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<2000 {
            var link = LinkStateMachine(policy: Self.policy, now: at(0))
            var (admitted, ended, clock) = (0, 0, Int64(0))
            for _ in 0..<12 {
                clock += .random(in: 0...4000, using: &generator)
                let action: LinkStateMachine.Action
                switch Int.random(in: 0..<7, using: &generator) {
                case 0:
                    let first = link.received(.hello(Self.hello()))
                    action = first == .judge(Self.hello()) ? link.judged(Self.hello(), nil) : first
                case 1: action = link.received(.hello(Self.hello(token: "wrong")))
                case 2: action = link.failed(.badMagic(1))
                case 3: action = link.closed()
                case 4: action = link.timerFired(now: at(clock))
                default:
                    link.bytesArrived(now: at(clock))
                    action = link.received(.status(SourceStatus(state: .streaming)))
                }
                switch action {
                case .admit: admitted += 1
                case .deliver: #expect(admitted == 1 && ended == 0)
                case .refuse:
                    #expect(admitted == 0)
                    ended += 1
                case .lose:
                    #expect(admitted == 1)
                    ended += 1
                case .nothing, .judge: break
                }
            }
            #expect(admitted <= 1)
            #expect(ended <= 1)
        }
    }

    private func code(_ action: LinkStateMachine.Action) -> Reject.Code? {
        switch action {
        case .refuse(let reject): reject.code
        case .lose(_, let reject): reject?.code
        case .nothing, .judge, .admit, .deliver: nil
        }
    }
}
