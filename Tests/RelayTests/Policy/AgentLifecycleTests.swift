import HeliographAPI
import NIOCore
import Relay
import Testing
import Wire

@Suite("A broadcast's state machine")
struct AgentLifecycleTests {
    private static let source = SourceRequest(kind: .testPattern)
    private static let exit = AgentExit(cause: .status(3), lastLine: "no screen")
    static let policy = AgentLifecycle.Policy(
        defaultSource: source,
        returnGrace: .seconds(5),
        stopGrace: .seconds(2),
        backoff: RestartBackoff.Policy()
    )

    private static func hello(pid: Int32 = 10) -> Hello {
        Hello(token: "", device: "default", source: "test-pattern", pid: pid, release: "test")
    }

    private var machine = AgentLifecycle(policy: policy, now: at(0))

    private mutating func start(_ source: SourceRequest? = nil, at now: Int64) -> AgentLifecycle.StartDecision {
        machine.startRequested(source: source, timeout: .seconds(15), now: at(now))
    }

    /// Returns a broadcast that is live since 300 ms, with an agent that the relay started.
    private mutating func goLive() {
        _ = start(at: 0)
        machine.processStarted(pid: 10, now: at(100))
        _ = machine.agentConnected(Self.hello(), now: at(200))
        _ = machine.sourceReported(SourceStatus(state: .streaming), now: at(300))
    }

    @Test("A start spawns an agent, and succeeds when its source streams")
    mutating func aStartSucceedsWhenTheSourceStreams() {
        #expect(start(at: 0) == .lead([.spawn(Self.source)]))
        machine.processStarted(pid: 10, now: at(100))
        #expect(machine.agentConnected(Self.hello(), now: at(150)).isEmpty)
        #expect(machine.sourceReported(SourceStatus(state: .opening), now: at(160)).isEmpty)
        #expect(machine.state == .starting)
        let streaming = SourceStatus(state: .streaming, timings: ["portalMs": 40])
        let timings = StartTimings(
            spawn: .milliseconds(100),
            hello: .milliseconds(50),
            source: .milliseconds(150),
            total: .milliseconds(300),
            agent: ["portalMs": 40]
        )
        #expect(machine.sourceReported(streaming, now: at(300)) == [.startSucceeded(timings)])
        #expect(machine.state == .live)
        #expect(machine.wake == nil)
    }

    @Test("The time of a start stops while a dialog is open, if its caller named none, and begins anew afterwards")
    mutating func aDialogStopsTheTime() {
        let dialog = SourceStatus(state: .opening, cause: SourceStatus.waitingForConsent)
        _ = machine.startRequested(source: nil, timeout: .seconds(15), outlastsDialogs: true, now: at(0))
        machine.processStarted(pid: 10, now: at(100))
        _ = machine.agentConnected(Self.hello(), now: at(200))
        #expect(machine.wake == at(15_000))
        _ = machine.sourceReported(dialog, now: at(1_000))
        #expect(machine.wake == nil)
        #expect(machine.timerFired(now: at(600_000)).isEmpty && machine.state == .starting)
        _ = machine.sourceReported(SourceStatus(state: .opening), now: at(600_000))
        #expect(machine.wake == at(615_000))
    }

    @Test("A second start joins the first, and a start of a live broadcast has nothing to do")
    mutating func startsAreIdempotent() {
        _ = start(at: 0)
        #expect(start(at: 10) == .join)
        #expect(start(Self.source, at: 20) == .join)
        #expect(start(SourceRequest(kind: .portal), at: 30) == .refuse(.running(source: "test-pattern")))
        machine.processStarted(pid: 10, now: at(100))
        _ = machine.agentConnected(Self.hello(), now: at(200))
        _ = machine.sourceReported(SourceStatus(state: .streaming), now: at(300))
        #expect(start(at: 400) == .alreadyRunning)
        #expect(start(SourceRequest(kind: .testPattern, fps: 5), at: 400) == .refuse(.running(source: "test-pattern")))
    }

    @Test("Of several starts the longest ttl counts, and none is the longest; it ends with the broadcast")
    mutating func theLongestTTLCounts() {
        func start(_ machine: inout AgentLifecycle, _ source: SourceRequest? = nil, ttl: Int?, at now: Int64) {
            _ = machine.startRequested(source: source, timeout: .seconds(15), ttl: ttl, now: at(now))
        }
        start(&machine, ttl: 30, at: 0)
        #expect(machine.ttl == 30)
        start(&machine, ttl: 60, at: 10)
        #expect(machine.ttl == 60, "while it starts")
        _ = machine.agentConnected(Self.hello(), now: at(200))
        _ = machine.sourceReported(SourceStatus(state: .streaming), now: at(300))
        start(&machine, ttl: 5, at: 400)
        #expect(machine.ttl == 60)
        start(&machine, SourceRequest(kind: .portal), ttl: nil, at: 410)
        #expect(machine.ttl == 60, "a start that is refused is none")
        start(&machine, ttl: nil, at: 420)
        start(&machine, ttl: 90, at: 430)
        #expect(machine.ttl == nil)
        _ = machine.stopRequested(reason: "", now: at(500))
        _ = machine.linkLost(now: at(510))
        _ = machine.processExited(AgentExit(cause: .status(0)), now: at(520))
        start(&machine, ttl: 7, at: 600)
        #expect(machine.ttl == 7)
    }

    @Test("The broadcast of an agent that was started by hand has no ttl, even after a start")
    mutating func noTTLByHand() {
        _ = machine.agentConnected(Self.hello(), now: at(0))
        _ = machine.startRequested(source: nil, timeout: .seconds(15), ttl: 5, now: at(10))
        #expect(machine.ttl == nil)
    }

    @Test("A timed-out start answers only when its agent is gone")
    mutating func aTimedOutStartLeavesNothing() {
        _ = start(at: 0)
        machine.processStarted(pid: 10, now: at(100))
        #expect(machine.wake == at(15_000))
        #expect(machine.timerFired(now: at(15_000)) == [.terminateProcess])
        #expect(machine.state == .stopping)
        #expect(!machine.acceptsAgent)
        let gone = machine.processExited(AgentExit(cause: .signal(15)), now: at(15_100))
        let timeout = BroadcastError.agentTimeout(after: .seconds(15), saidHello: false)
        #expect(gone == [.startFailed(timeout), .stopped])
        #expect(machine.state == .idle)
    }

    @Test("A start whose agent exits fails with its exit")
    mutating func aStartWhoseAgentExitsFails() {
        _ = start(at: 0)
        machine.processStarted(pid: 10, now: at(100))
        #expect(machine.processExited(Self.exit, now: at(200)) == [.startFailed(.agentExited(Self.exit)), .stopped])
        #expect(machine.state == .idle)
        #expect(machine.wake == nil)
    }

    @Test("A start whose source is lost ends the agent before it fails")
    mutating func aStartWhoseSourceIsLostEndsTheAgent() {
        _ = start(at: 0)
        machine.processStarted(pid: 10, now: at(100))
        _ = machine.agentConnected(Self.hello(), now: at(200))
        let lost = SourceStatus(state: .lost, cause: "portal_unavailable", detail: "install a portal")
        let actions = machine.sourceReported(lost, now: at(300))
        #expect(actions == [.sendStop(reason: "the start failed"), .terminateProcess])
        #expect(machine.processExited(AgentExit(cause: .status(0)), now: at(400)).isEmpty)
        let error = BroadcastError.sourceUnavailable(cause: "portal_unavailable", detail: "install a portal")
        #expect(machine.linkLost(now: at(401)) == [.startFailed(error), .stopped])
    }

    @Test("An agent that exits is started again, later each time, and at once after a healthy spell")
    mutating func anAgentThatExitsIsRestarted() {
        goLive()
        var now: Int64 = 1000
        var delays: [Int64] = []
        for round in 1...8 {
            _ = machine.linkLost(now: at(now))
            _ = machine.processExited(Self.exit, now: at(now))
            #expect(machine.state == .away)
            let wake = machine.wake ?? at(0)
            delays.append((wake - at(now)).nanoseconds / 1_000_000)
            now = (wake - at(0)).nanoseconds / 1_000_000
            #expect(machine.timerFired(now: at(now)) == [.spawn(Self.source)])
            #expect(machine.restarts == round)
            machine.processStarted(pid: 10, now: at(now))
            _ = machine.agentConnected(Self.hello(), now: at(now))
            #expect(machine.state == .live)
        }
        #expect(delays == [100, 200, 400, 800, 1600, 3200, 5000, 5000])
        now += 10_000
        _ = machine.linkLost(now: at(now))
        _ = machine.processExited(Self.exit, now: at(now))
        #expect(machine.wake == at(now + 100))
    }

    @Test("It does not matter whether the exit or the lost link is noticed first")
    mutating func theOrderOfExitAndLossDoesNotMatter() {
        goLive()
        #expect(machine.processExited(Self.exit, now: at(1000)).isEmpty)
        #expect(machine.state == .live)
        _ = machine.linkLost(now: at(1001))
        #expect(machine.state == .away)
        #expect(machine.wake == at(1101))
    }

    @Test("A process without a link is given time to return, then ended and replaced")
    mutating func aProcessWithoutALinkIsReplaced() {
        goLive()
        _ = machine.linkLost(now: at(1000))
        #expect(machine.wake == at(6000))
        #expect(machine.timerFired(now: at(6000)) == [.terminateProcess])
        _ = machine.processExited(AgentExit(cause: .signal(9)), now: at(6100))
        #expect(machine.wake == at(6200))
        #expect(machine.timerFired(now: at(6200)) == [.spawn(Self.source)])
    }

    @Test("An agent that hangs is told to stop, loses its link, is ended, and replaced")
    mutating func anAgentThatHangsIsReplaced() {
        goLive()
        #expect(machine.agentHung() == [.sendStop(reason: "its encoder hangs"), .abandonLink, .terminateProcess])
        _ = machine.linkLost(now: at(1000))
        #expect(machine.agentHung().isEmpty, "once")
        _ = machine.processExited(AgentExit(cause: .signal(9)), now: at(4000))
        #expect(machine.wake == at(4100))
        #expect(machine.timerFired(now: at(4100)) == [.spawn(Self.source)])
    }

    @Test("An agent of the relay's former life that hangs is ended and replaced")
    mutating func anAdoptedAgentThatHangsIsReplaced() {
        _ = machine.superviseRequested(source: Self.source, grace: .seconds(2), pid: 10, now: at(0))
        _ = machine.agentConnected(Self.hello(), now: at(100))
        #expect(machine.agentHung() == [.sendStop(reason: "its encoder hangs"), .abandonLink, .terminateProcess])
        _ = machine.linkLost(now: at(1000))
        _ = machine.processExited(AgentExit(cause: .unknown("")), now: at(4000))
        #expect(machine.timerFired(now: at(4100)) == [.spawn(Self.source)])
    }

    @Test("An agent that the relay keeps running and whose process it does not know loses its link, and is replaced")
    mutating func anUnknownAgentThatHangsIsReplaced() {
        _ = machine.superviseRequested(source: Self.source, grace: .seconds(2), now: at(0))
        _ = machine.agentConnected(Self.hello(), now: at(100))
        #expect(machine.agentHung() == [.sendStop(reason: "its encoder hangs"), .abandonLink])
        _ = machine.linkLost(now: at(1000))
        #expect(machine.wake == at(1100))
    }

    @Test("An agent of the relay's former life is ended before another is started: it does not come, or falls silent")
    mutating func anAdoptedAgentIsEnded() {
        var silent = machine
        _ = machine.superviseRequested(source: Self.source, grace: .seconds(2), pid: 10, now: at(0))
        #expect(machine.isManaged)
        #expect(machine.timerFired(now: at(1999)).isEmpty)
        #expect(machine.timerFired(now: at(2000)) == [.terminateProcess])
        #expect(machine.processExited(AgentExit(cause: .unknown("")), now: at(5000)).isEmpty)
        #expect(machine.timerFired(now: at(5100)) == [.spawn(Self.source)])

        _ = silent.superviseRequested(source: Self.source, grace: .seconds(2), pid: 10, now: at(0))
        _ = silent.agentConnected(Self.hello(), now: at(100))
        _ = silent.linkLost(now: at(7000))
        #expect(silent.timerFired(now: at(12_000)) == [.terminateProcess])
    }

    @Test("An agent started by hand that hangs is left alone")
    mutating func anAgentStartedByHandThatHangsStays() {
        _ = machine.agentConnected(Self.hello(), now: at(0))
        #expect(machine.agentHung().isEmpty)
        #expect(machine.state == .live)
    }

    @Test("A process whose link returns in time stays")
    mutating func aReturningLinkIsWelcome() {
        goLive()
        _ = machine.linkLost(now: at(1000))
        #expect(machine.agentConnected(Self.hello(), now: at(2000)).isEmpty)
        #expect(machine.state == .live)
        #expect(machine.wake == nil)
    }

    @Test("An agent started by hand makes the broadcast live and is not supervised")
    mutating func anAgentStartedByHandIsNotSupervised() {
        #expect(machine.agentConnected(Self.hello(pid: 99), now: at(0)).isEmpty)
        #expect(machine.state == .live)
        #expect(!machine.isManaged)
        _ = machine.linkLost(now: at(1000))
        #expect(machine.state == .away)
        #expect(machine.timerFired(now: at(6000)).isEmpty)
        #expect(machine.state == .idle)
    }

    @Test("A start waits for a hand-started agent that is briefly away, then spawns its own")
    mutating func aStartWaitsForAKnownAgent() {
        _ = machine.agentConnected(Self.hello(pid: 99), now: at(0))
        _ = machine.linkLost(now: at(1000))
        #expect(start(at: 3000) == .lead([]))
        #expect(machine.wake == at(6000))
        #expect(machine.timerFired(now: at(5999)).isEmpty)
        #expect(machine.timerFired(now: at(6000)) == [.spawn(Self.source)])
    }

    @Test("A start is served by a hand-started agent that returns")
    mutating func aStartIsServedByAReturningAgent() {
        _ = machine.agentConnected(Self.hello(pid: 99), now: at(0))
        _ = machine.linkLost(now: at(1000))
        _ = start(at: 3000)
        _ = machine.agentConnected(Self.hello(pid: 99), now: at(4000))
        let actions = machine.sourceReported(SourceStatus(state: .streaming), now: at(4100))
        guard case .startSucceeded(let timings) = actions.first else {
            Issue.record("the start should have succeeded")
            return
        }
        #expect(timings.spawn == nil)
        #expect(timings.total == .milliseconds(1100))
        #expect(!machine.isManaged)
    }

    @Test("An impatient start does not end a hand-started agent")
    mutating func anImpatientStartEndsNoOthersAgent() {
        _ = machine.agentConnected(Self.hello(pid: 99), now: at(0))
        #expect(start(at: 0) == .lead([]))
        let timeout = BroadcastError.agentTimeout(after: .seconds(15), saidHello: true)
        #expect(machine.timerFired(now: at(15_000)) == [.startFailed(timeout)])
        #expect(machine.state == .live)
    }

    @Test("A stop asks the agent to leave, then makes it")
    mutating func aStopAsksThenForces() {
        goLive()
        #expect(machine.stopRequested(reason: "enough", now: at(1000)) == [.sendStop(reason: "enough")])
        #expect(machine.stopRequested(reason: "enough", now: at(1001)).isEmpty)
        #expect(start(at: 1002) == .waitForStop)
        #expect(machine.wake == at(3000))
        #expect(machine.timerFired(now: at(3000)) == [.terminateProcess, .closeLink])
        #expect(machine.linkLost(now: at(3001)).isEmpty)
        #expect(machine.processExited(AgentExit(cause: .signal(15)), now: at(3100)) == [.stopped])
        #expect(machine.state == .idle)
        #expect(machine.stopRequested(reason: "enough", now: at(4000)) == [.stopped])
    }

    @Test("A stop during a start fails the start at once")
    mutating func aStopFailsAStart() {
        _ = start(at: 0)
        machine.processStarted(pid: 10, now: at(100))
        #expect(machine.stopRequested(reason: "enough", now: at(200)) == [.startFailed(.stopped), .terminateProcess])
        #expect(machine.processExited(AgentExit(cause: .signal(15)), now: at(300)) == [.stopped])
    }

    private static let timeout = BroadcastError.agentTimeout(after: .seconds(15), saidHello: true)

    @Test("A start that joins a supervised broadcast whose source opens leaves it live when it fails")
    mutating func aGuestLeavesALiveBroadcastLive() {
        goLive()
        _ = machine.sourceReported(SourceStatus(state: .opening), now: at(1000))
        #expect(start(at: 2000) == .lead([]))
        #expect(machine.timerFired(now: at(17_000)) == [.startFailed(Self.timeout)])
        #expect(machine.state == .live)
        #expect(start(at: 18_000) == .lead([]))
        let lost = BroadcastError.sourceUnavailable(cause: "gone", detail: nil)
        let actions = machine.sourceReported(SourceStatus(state: .lost, cause: "gone"), now: at(19_000))
        #expect(actions == [.startFailed(lost)])
        #expect(machine.state == .live)
        #expect(start(at: 19_500) == .refuse(lost))
        // Still supervised.
        _ = machine.linkLost(now: at(20_000))
        _ = machine.processExited(Self.exit, now: at(20_000))
        #expect(machine.timerFired(now: at(20_100)) == [.spawn(Self.source)])
    }

    @Test("A start that joins a supervised broadcast whose agent is away leaves it away when the next agent exits")
    mutating func aGuestLeavesAnAbsentBroadcastAway() {
        goLive()
        _ = machine.linkLost(now: at(1000))
        _ = machine.processExited(Self.exit, now: at(1000))
        #expect(start(at: 1010) == .lead([.spawn(Self.source)]))
        #expect(machine.restarts == 1)
        let failed = machine.processExited(Self.exit, now: at(1020))
        #expect(failed == [.startFailed(.agentExited(Self.exit))])
        #expect(machine.state == .away)
        #expect(machine.wake == at(1220))
        #expect(machine.timerFired(now: at(1220)) == [.spawn(Self.source)])
        #expect(machine.restarts == 2)
    }

    @Test("A start that joins while an agent restarts and gives up early leaves the agent its time")
    mutating func anImpatientGuestLeavesARestartItsTime() {
        goLive()
        _ = machine.linkLost(now: at(1000))
        _ = machine.processExited(Self.exit, now: at(1000))
        #expect(machine.timerFired(now: at(1100)) == [.spawn(Self.source)])
        #expect(machine.startRequested(source: nil, timeout: .seconds(1), now: at(1200)) == .lead([]))
        let timeout = BroadcastError.agentTimeout(after: .seconds(1), saidHello: false)
        #expect(machine.timerFired(now: at(2200)) == [.startFailed(timeout)])
        #expect(machine.state == .away)
        #expect(machine.wake == at(16_100))
    }

    @Test("A start that joins while a linkless process is being ended waits for the next one")
    mutating func aGuestWaitsForTheNextProcess() {
        goLive()
        _ = machine.linkLost(now: at(1000))
        #expect(machine.timerFired(now: at(6000)) == [.terminateProcess])
        #expect(start(at: 6010) == .lead([]))
        #expect(machine.processExited(AgentExit(cause: .signal(9)), now: at(6100)).isEmpty)
        #expect(machine.timerFired(now: at(6100)) == [.spawn(Self.source)])
        #expect(machine.state == .starting)
    }

    @Test("A start whose process went while another agent was linked spawns again when that one goes as well")
    mutating func aStartWithoutAnyAgentSpawnsAgain() throws {
        _ = start(at: 0)
        machine.processStarted(pid: 10, now: at(100))
        _ = machine.agentConnected(Self.hello(pid: 99), now: at(150))
        #expect(machine.processExited(Self.exit, now: at(200)).isEmpty)
        #expect(machine.linkLost(now: at(300)).isEmpty)
        #expect(machine.wake == at(400))
        #expect(machine.timerFired(now: at(400)) == [.spawn(Self.source)])
    }

    @Test("A start of an absent agent does not wait for the backoff")
    mutating func aStartSkipsTheBackoff() {
        goLive()
        _ = machine.linkLost(now: at(1000))
        _ = machine.processExited(Self.exit, now: at(1000))
        #expect(start(at: 1010) == .lead([.spawn(Self.source)]))
    }

    @Test("of an agent without a waiting caller begins with a spawn, and restarts it when it ends")
    mutating func supervises() {
        let source = SourceRequest(kind: .auto)
        let actions = machine.superviseRequested(source: source, now: at(0))
        #expect(actions == [.spawn(source)])
        #expect(machine.state == .away)
        #expect(machine.restarts == 0)
        let again = machine.superviseRequested(source: source, now: at(1))
        #expect(again.isEmpty)
        _ = machine.agentConnected(Self.hello(), now: at(100))
        #expect(machine.state == .live)
        let lost = machine.sourceReported(SourceStatus(state: .lost), now: at(110))
        #expect(lost.isEmpty)
        _ = machine.processExited(AgentExit(cause: .signal(9)), now: at(200))
        _ = machine.linkLost(now: at(201))
        let restart = machine.timerFired(now: at(301))
        #expect(restart == [.spawn(source)])
        #expect(machine.restarts == 1)
    }

    @Test("whose start finds its source lost goes on where something else is shown meanwhile")
    mutating func outlivesLostSource() {
        var policy = Self.policy
        policy.outlivesLostSource = { $0 == Self.source }
        machine = AgentLifecycle(policy: policy, now: at(0))
        _ = start(at: 0)
        _ = machine.agentConnected(Self.hello(), now: at(100))
        let lost = SourceStatus(state: .lost, cause: "portal_unavailable", detail: "install it")
        let failure = BroadcastError.sourceUnavailable(cause: "portal_unavailable", detail: "install it")
        let actions = machine.sourceReported(lost, now: at(200))
        #expect(actions == [.startFailed(failure)])
        #expect(machine.state == .live)
        #expect(machine.isSupervised)
        let again = start(at: 300)
        #expect(again == .refuse(failure))
        _ = machine.sourceReported(SourceStatus(state: .streaming), now: at(400))
        let later = start(at: 500)
        #expect(later == .alreadyRunning)
    }

    @Test("that was there before waits for its agent, and starts another when it does not come")
    mutating func adopts() {
        let source = SourceRequest(kind: .auto)
        var empty = machine
        let nothing = machine.superviseRequested(source: source, grace: .seconds(2), now: at(0))
        #expect(nothing.isEmpty)
        #expect(machine.isSupervised)
        _ = machine.agentConnected(Self.hello(), now: at(1500))
        #expect(machine.state == .live)
        #expect(machine.wake == nil)
        _ = machine.linkLost(now: at(5000))
        let restart = machine.timerFired(now: at(5100))
        #expect(restart == [.spawn(source)], "it is not the relay's child, and yet its to keep")

        _ = empty.superviseRequested(source: source, grace: .seconds(2), now: at(0))
        let early = empty.timerFired(now: at(1999))
        let due = empty.timerFired(now: at(2000))
        #expect(early.isEmpty)
        #expect(due == [.spawn(source)])
    }
}
