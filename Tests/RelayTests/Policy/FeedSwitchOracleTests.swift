import NIOCore
import Relay
import TestSupport
import Testing
import Wire

/// An event of a feed switch.
private enum FeedEvent {
    case linked(AgentRole, SourceStatus.State?)
    case linkLost(AgentRole, FeedSwitch.Cause?)
    case sourceReported(AgentRole, SourceStatus.State)
    case demand(Bool)
    case accessUnit(AgentRole, isKey: Bool, request: UInt32, captured: UInt64)
    case repeated
    case awaitsTurn(AgentRole)
    case keyframeRequest
    case rate(Int)
    case time
}

/// The state machine and its oracle, which get the same events.
private struct FeedPair {
    var machine: FeedSwitch
    var oracle: FormerFeedSwitch

    init(policy: FeedSwitch.Policy) {
        machine = FeedSwitch(policy: policy)
        oracle = FormerFeedSwitch(policy: policy)
    }

    /// Applies an event to both, and returns the machine's answer: its orders, or `nil` if it refuses the event.
    ///
    /// - Throws: A ``Difference`` if their answers or their states afterwards differ.
    mutating func apply(_ event: FeedEvent, now: NIODeadline) throws(Difference) -> [FeedSwitch.Order]? {
        let (answer, expected): ([FeedSwitch.Order]?, [FeedSwitch.Order]?)
        switch event {
        case .linked(let role, let source):
            answer = machine.linked(role, source: source, now: now)
            oracle.linked(role, now: now)
            if let source { oracle.sourceReported(role, source, now: now) }
            expected = oracle.orders(now: now)
        case .linkLost(let role, let cause):
            answer = machine.linkLost(role, because: cause, now: now)
            oracle.linkLost(role, because: cause, now: now)
            expected = oracle.orders(now: now)
        case .sourceReported(let role, let state):
            answer = machine.sourceReported(role, state, now: now)
            oracle.sourceReported(role, state, now: now)
            expected = oracle.orders(now: now)
        case .demand(let isThere):
            answer = machine.demand(isThere, now: now)
            oracle.demand(isThere, now: now)
            expected = oracle.orders(now: now)
        case .accessUnit(let role, let isKey, let request, let captured):
            answer = machine.take(role, isKey: isKey, request: request, captured: captured, now: now)
            let isTaken = oracle.takes(role, isKey: isKey, request: request, captured: captured, now: now)
            expected = isTaken ? oracle.orders(now: now) : nil
        case .awaitsTurn(let role):
            machine.awaitsTurn(role, now: now)
            oracle.awaitsTurn(role, now: now)
            (answer, expected) = (nil, nil)
        case .repeated:
            machine.repeated(now: now)
            oracle.repeated(now: now)
            (answer, expected) = (nil, nil)
        case .keyframeRequest:
            let request = machine.requestKeyframe(now: now)
            let id = oracle.requestKeyframe(now: now)
            try compare("request", request?.id, id)
            (answer, expected) = (request?.orders, id.map { _ in oracle.orders(now: now) })
        case .rate(let fps):
            (machine.policy.fps, oracle.policy.fps) = (fps, fps)
            (answer, expected) = (nil, nil)
        case .time:
            answer = machine.timePassed(now: now)
            expected = oracle.orders(now: now)
        }
        try compare("orders", answer, expected)
        try compareState()
        return answer
    }

    private func compareState() throws(Difference) {
        try compare("current", machine.current, oracle.current)
        try compare("isDemanded", machine.isDemanded, oracle.isDemanded)
        try compare("isLinked", machine.isLinked, oracle.isLinked)
        try compare("source", machine.source, oracle.source)
        try compare("staleSince", machine.staleSince, oracle.staleSince)
        for role in AgentRole.allCases {
            try compare("overdueSince(of: \(role))", machine.overdueSince(of: role), oracle.overdueSince(of: role))
        }
        try compare("lastRequestID", machine.lastRequestID, oracle.lastRequestID)
        try compare("switches", machine.record.count, oracle.record.count)
        try compare("causes", machine.record.causes, oracle.record.causes)
        try compare("lastGap", machine.record.lastGap, oracle.record.lastGap)
        try compare("gaps", machine.record.gaps, oracle.record.gaps)
    }

    private func compare<Value: Equatable>(
        _ name: @autoclosure () -> String,
        _ value: Value,
        _ expected: Value
    ) throws(Difference) {
        if value != expected { throw Difference(description: "\(name()): \(value) instead of \(expected)") }
    }

    struct Difference: Error, CustomStringConvertible {
        let description: String
    }
}

/// A generator of event sequences: agents that answer requests, and sometimes impossible events.
private struct FeedEvents {
    private var generator: SeededGenerator
    private var now: NIODeadline
    private var requested = EachRole<UInt32>(0)
    /// One event in this many is of any kind. The others are ordinary ones, with agents that seldom answer.
    private let calm: Int
    let policy: FeedSwitch.Policy

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let start: [UInt64] = [0, 1_000_000_000, 1 << 62]
        now = .uptimeNanoseconds(start.randomElement(using: &generator) ?? 0)
        let fps = [30, 30, 30, 1, 240, 0, -1, .max].randomElement(using: &generator) ?? 30
        var policy = FeedSwitch.Policy(repeats: .random(using: &generator), fps: fps)
        if Int.random(in: 0..<8, using: &generator) == 0 { policy.hold = .zero }
        if Int.random(in: 0..<8, using: &generator) == 0 { (policy.patience, policy.missingPictures) = (.zero, 0) }
        self.policy = policy
        calm = [1, 2, 4, 16].randomElement(using: &generator) ?? 1
        self.generator = generator
    }

    private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &generator)]
    }

    mutating func next() -> (FeedEvent, NIODeadline) {
        now = now + step()
        return (event(), now)
    }

    /// Records the requests to the agents.
    mutating func take(_ orders: [FeedSwitch.Order]) {
        for case .requestKeyframe(let role, let id) in orders { requested[role] = id }
    }

    private mutating func step() -> TimeAmount {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0..<3: .zero
        case 3..<8: .milliseconds(.random(in: 0...120, using: &generator))
        case 8: .milliseconds(pick([100, 500, 1000, 1100]) + pick([-1, 0, 0, 1]))
        case 9: .milliseconds(.random(in: 0...2500, using: &generator))
        case 10: .nanoseconds(pick([1, 12_500_000, 33_333_333]))
        default: chance(10) ? pick([.seconds(60), .hours(24 * 365), .milliseconds(-300)]) : .milliseconds(250)
        }
    }

    private mutating func event() -> FeedEvent {
        let role = pick([AgentRole.primary, .primary, .standby])
        guard chance(calm) else {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: return .keyframeRequest
            case 1..<4: return accessUnit(role, isKey: chance(3), request: requested[role] &- pick([0, 0, 1]))
            default: return .time
            }
        }
        switch Int.random(in: 0..<40, using: &generator) {
        case 0..<4: return .linked(role, pick([nil, .opening, .streaming, .streaming, .paused, .lost]))
        case 4..<6: return .linkLost(role, pick([nil, nil, nil] + FeedSwitch.Cause.allCases))
        case 6..<10: return .sourceReported(role, pick([.opening, .streaming, .streaming, .paused, .lost]))
        case 10: return .demand(chance(2))
        case 11: return .demand(true)
        case 12: return chance(2) ? .repeated : .awaitsTurn(role)
        case 13..<16: return .keyframeRequest
        case 16: return chance(10) ? .rate(pick([1, 30, 60, 0, .max])) : .time
        case 17..<25: return .time
        case 25..<31: return accessUnit(role, isKey: true, request: requested[role])
        case 31..<34:
            return accessUnit(
                role,
                isKey: chance(2),
                request: pick([0, 1, .max, requested[role] &- 1, requested[role] &+ 1])
            )
        default: return accessUnit(role, isKey: false, request: 0)
        }
    }

    private mutating func accessUnit(_ role: AgentRole, isKey: Bool, request: UInt32) -> FeedEvent {
        let time = now.uptimeNanoseconds
        let past = UInt64.random(in: 0...5_000_000_000, using: &generator)
        let captured = chance(3) ? pick([0, .max, time &- 1, time &+ 1, time &- past, time &- past]) : time
        return .accessUnit(role, isKey: isKey, request: request, captured: captured)
    }
}

/// Counts of what the sequences have caused.
private struct FeedCoverage {
    var causes: Set<FeedSwitch.Cause> = []
    var (requests, activations, deactivations, refusals): (Int, Int, Int, Int) = (0, 0, 0, 0)
    var overdue = EachRole(0)
    var sources: Set<FeedSwitch.Source> = []
    var stale = 0

    mutating func take(_ machine: FeedSwitch, _ answer: [FeedSwitch.Order]?) {
        if answer == nil { refusals += 1 }
        for order in answer ?? [] {
            switch order {
            case .requestKeyframe: requests += 1
            case .activate: activations += 1
            case .deactivate: deactivations += 1
            }
        }
        for role in AgentRole.allCases where machine.overdueSince(of: role) != nil { overdue[role] += 1 }
        causes.formUnion(machine.record.causes.keys)
        sources.insert(machine.source)
        if machine.staleSince != nil { stale += 1 }
    }
}

@Suite("A feed switch and its oracle")
struct FeedSwitchOracleTests {
    private static let sequences: UInt64 = 2000
    private static let length = 250

    /// Returns the first difference in random sequences, and what they have caused until then.
    ///
    /// - Parameter change: Changes the oracle's policy.
    private static func compare(
        _ change: (inout FeedSwitch.Policy) -> Void = { _ in }
    ) -> (difference: String?, coverage: FeedCoverage) {
        var coverage = FeedCoverage()
        for seed in 0..<sequences {
            var events = FeedEvents(seed: seed)
            var pair = FeedPair(policy: events.policy)
            change(&pair.oracle.policy)
            var past: [(FeedEvent, NIODeadline)] = []
            for number in 1...length {
                let (event, now) = events.next()
                past.append((event, now))
                do throws(FeedPair.Difference) {
                    let answer = try pair.apply(event, now: now)
                    events.take(answer ?? [])
                    coverage.take(pair.machine, answer)
                } catch {
                    let last = past.suffix(12).map { "\($0.1.uptimeNanoseconds): \($0.0)" }.joined(separator: "\n")
                    return ("seed \(seed), event \(number), \(events.policy): \(error)\n\(last)", coverage)
                }
            }
        }
        return (nil, coverage)
    }

    @Test("agree after every event of random sequences, which bring about all there is")
    func agree() {
        let (difference, coverage) = Self.compare()
        #expect(difference == nil)
        #expect(coverage.causes == Set(FeedSwitch.Cause.allCases))
        #expect(coverage.sources == [.primary, .standby, .none])
        let counts = [coverage.requests, coverage.activations, coverage.deactivations, coverage.refusals]
        #expect(counts.allSatisfy { $0 > 500 }, "\(counts)")
        #expect(coverage.overdue.primary > 500 && coverage.overdue.standby > 500 && coverage.stale > 500)
    }

    @Test("differ if the oracle has another policy: the comparison sees it")
    func differ() {
        #expect(Self.compare { $0.hold = $0.hold + .milliseconds(1) }.difference != nil)
        #expect(Self.compare { $0.patience = $0.patience + .milliseconds(1) }.difference != nil)
        #expect(Self.compare { $0.repeats.toggle() }.difference != nil)
    }
}
