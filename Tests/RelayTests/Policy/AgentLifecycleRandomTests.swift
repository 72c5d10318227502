import HeliographAPI
import NIOCore
import Relay
import TestSupport
import Testing
import Wire

/// Drives a broadcast's state machine with all possible events in random order, and simulates the effects of its
/// actions.
private struct World {
    var machine: AgentLifecycle
    var generator: SeededGenerator
    var now: Int64 = 0
    /// A spawned process that has not been reaped.
    var process = false
    var link = false
    var startWaits = false
    /// Whether the relay has spawned an agent since the broadcast was idle.
    var supervised = false
    /// Whether the waiting start came to a supervised broadcast.
    var isGuest = false
    var stopWaits = false

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        var policy = AgentLifecycleTests.policy
        let outlives = Bool.random(using: &generator)
        policy.outlivesLostSource = { _ in outlives }
        machine = AgentLifecycle(policy: policy, now: at(0))
    }

    mutating func perform(_ actions: [AgentLifecycle.Action]) {
        for action in actions {
            switch action {
            case .spawn:
                #expect(!process, "a second agent was spawned beside the first")
                process = true
                supervised = true
            case .terminateProcess:
                #expect(process, "there is nothing to terminate")
            case .sendStop, .closeLink:
                #expect(link, "there is no link")
            case .abandonLink:
                #expect(link, "there is no link")
                link = false
                perform(machine.linkLost(now: at(now)))
            case .startSucceeded:
                #expect(startWaits && link)
                startWaits = false
            case .startFailed(let error):
                #expect(startWaits, "a start was answered twice")
                startWaits = false
                if isGuest, error != .stopped {
                    #expect([.live, .away].contains(machine.state), "a failed start ended what it had not begun")
                }
            case .stopped:
                #expect(!process && !link, "stopped with something left")
                stopWaits = false
            }
        }
    }

    mutating func step() {
        now += .random(in: 0...2500, using: &generator)
        switch Int.random(in: 0..<11, using: &generator) {
        case 0: start()
        case 10: perform(machine.agentHung())
        case 9:
            let source = SourceRequest(kind: .testPattern)
            let isAdopted = !process && machine.state == .idle && Bool.random(using: &generator)
            if isAdopted { (process, supervised) = (true, true) }
            perform(machine.superviseRequested(source: source, pid: isAdopted ? 10 : nil, now: at(now)))
        case 1: stop()
        case 2 where !link && machine.acceptsAgent: connect()
        case 3 where link:
            link = false
            perform(machine.linkLost(now: at(now)))
        case 4 where process: machine.processStarted(pid: 10, now: at(now))
        case 5 where process:
            process = false
            perform(machine.processExited(AgentExit(cause: .status(1)), now: at(now)))
        case 6 where link:
            let states: [SourceStatus.State] = [.opening, .streaming, .paused, .lost]
            let state = states[Int.random(in: 0..<4, using: &generator)]
            perform(machine.sourceReported(SourceStatus(state: state), now: at(now)))
        default:
            perform(machine.timerFired(now: at(now)))
        }
        check()
    }

    mutating func start() {
        switch machine.startRequested(source: nil, timeout: .seconds(5), now: at(now)) {
        case .lead(let actions):
            #expect(!startWaits)
            startWaits = true
            isGuest = supervised
            perform(actions)
        case .join: #expect(startWaits)
        case .alreadyRunning: #expect(link)
        case .waitForStop: #expect(machine.state == .stopping)
        case .refuse: break
        }
    }

    mutating func stop() {
        stopWaits = true
        perform(machine.stopRequested(reason: "", now: at(now)))
    }

    mutating func connect() {
        link = true
        let pid = Int32.random(in: 9...10, using: &generator)
        let hello = Hello(token: "", device: "default", source: "test-pattern", pid: pid, release: "")
        perform(machine.agentConnected(hello, now: at(now)))
    }

    mutating func check() {
        #expect((machine.agent != nil) == link)
        #expect(startWaits == (machine.state == .starting) || machine.state == .stopping)
        switch machine.state {
        case .idle:
            supervised = false
            #expect(!process && !link && !stopWaits)
        case .live: #expect(link)
        case .away: #expect(!link)
        case .starting: #expect(machine.wake != nil, "a start without a deadline waits for ever")
        case .stopping: #expect(process || link)
        }
    }

    /// Advances time, so that processes and links end as ordered.
    mutating func settle() {
        stop()
        for _ in 0..<4 {
            now += 3000
            perform(machine.timerFired(now: at(now)))
            if process {
                process = false
                perform(machine.processExited(AgentExit(cause: .signal(9)), now: at(now)))
            }
            if link {
                link = false
                perform(machine.linkLost(now: at(now)))
            }
        }
        #expect(machine.state == .idle)
        #expect(!startWaits && !stopWaits)
    }
}

@Suite("Whatever happens to a broadcast")
struct AgentLifecycleRandomTests {
    @Test("there is at most one agent, every start is answered once, and a stop leaves nothing", arguments: 0..<20)
    func holdsInRandomSequences(seed: UInt64) {
        for round in 0..<100 {
            var world = World(seed: seed &* 1000 &+ UInt64(round))
            for _ in 0..<60 { world.step() }
            world.settle()
        }
    }
}
