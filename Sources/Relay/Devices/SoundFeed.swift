package import Media
package import Wire

/// Decides which of a device's agents sends its sound, and what each is told about it.
///
/// An agent sends until it cannot: another one that returns does not interrupt it. Meanwhile the other one keeps the
/// last second, so that it continues where the first one ends. A pure value; its mutators return the new orders.
package struct SoundFeed: Sendable {
    package struct Order: Sendable, Equatable {
        package var role: AgentRole
        package var listen: Listen

        package init(_ role: AgentRole, _ listen: Listen) { (self.role, self.listen) = (role, listen) }
    }

    private struct Agent: Sendable {
        /// Its tracks; `nil` if it is not linked, or has not said.
        var tracks: [MediaTrack]?
        var problem: String?
        var captures = false
        var told = Listen.Mode.off

        var hasSound: Bool { tracks?.isEmpty == false }
        var isAble: Bool { hasSound && problem == nil }
    }

    private struct Last: Sendable {
        /// Its end, in µs of the monotonic clock.
        var end: Int64
        /// When what follows it was captured, in monotonic ns.
        var captured: Int64
        /// Whether silence follows.
        var isSilent: Bool
    }

    /// How far a PTS may be from the clock, in µs. Agents and relay read the same clock.
    private static let reach: Int64 = 60_000_000

    private var agents = EachRole(Agent())
    /// The agent that sends, or sent last.
    private var sender = AgentRole.primary
    /// The last accepted unit; `nil` before the first one since sound is wanted.
    private var last: Last?
    /// Whether a sink wants sound.
    private var isWanted = false
    /// The device's audio tracks. They outlive their agent.
    package private(set) var tracks: [MediaTrack] = []
    /// How often another agent continued the sound.
    package private(set) var switches: UInt64 = 0
    /// Units that sessions did not get: of an agent that does not send, of an unknown track, or with a wrong time.
    package private(set) var discarded: UInt64 = 0

    package init() {}

    /// Why there is no sound, for people; `nil` if the agent that sends has no problem.
    package var problem: String? {
        agents[sender].isAble ? nil : agents[sender].problem ?? agents[sender.other].problem
    }

    /// The agent that sends sound; `nil` if none does.
    package var current: AgentRole? { agents[sender].told == .send ? sender : nil }

    /// The agents that capture sound now.
    package var capturing: [AgentRole] { AgentRole.allCases.filter { agents[$0].captures } }

    /// Records an agent's report about its tracks.
    package mutating func reported(_ role: AgentRole, _ report: DeviceTracks) -> [Order] {
        (agents[role].tracks, agents[role].problem) = (report.sound, report.problem)
        agents[role].captures = report.captures ?? false
        return orders()
    }

    package mutating func lost(_ role: AgentRole) -> [Order] {
        agents[role] = Agent()
        return orders()
    }

    /// Records whether a sink wants sound.
    package mutating func want(_ isWanted: Bool) -> [Order] {
        self.isWanted = isWanted
        if !isWanted { last = nil }
        return orders()
    }

    /// Returns the unit as it goes to sessions, marked if sound is missing before it; `nil` if they must not get it.
    ///
    /// - Parameters:
    ///   - duration: Its duration in µs.
    ///   - now: In µs of the monotonic clock.
    package mutating func accept(
        _ header: UnitHeader,
        lasting duration: Int64,
        from role: AgentRole,
        now: Int64
    ) -> UnitHeader? {
        let distance = header.pts.subtractingReportingOverflow(now)
        guard role == sender, agents[role].told == .send, tracks.contains(where: { $0.id == header.track }),
            !distance.overflow, distance.partialValue.magnitude <= Self.reach.magnitude,
            header.pts >= last?.end ?? .min
        else {
            discarded += 1
            return nil
        }
        var header = header
        header.flags.remove(.gap)
        if let last, !last.isSilent, header.pts > last.end { header.flags.insert(.gap) }
        last = Last(
            end: header.pts &+ duration,
            captured: Int64(clamping: header.captured) &+ duration &* 1000,
            isSilent: header.flags.contains(.silence)
        )
        return header
    }

    private mutating func orders() -> [Order] {
        let candidates = [sender, sender.other]
        let chosen = candidates.first { agents[$0].isAble } ?? candidates.first { agents[$0].hasSound } ?? sender
        if chosen != sender {
            sender = chosen
            if last != nil { switches += 1 }
        }
        let reports = [agents[sender].tracks, agents[sender.other].tracks].compactMap(\.self)
        if !reports.isEmpty { tracks = reports.first { !$0.isEmpty } ?? [] }
        return AgentRole.allCases.compactMap { role in
            let mode: Listen.Mode = !isWanted || !agents[role].hasSound ? .off : role == sender ? .send : .ready
            guard mode != agents[role].told else { return nil }
            agents[role].told = mode
            // What it says next counts.
            if mode == .off { agents[role].captures = false }
            guard mode == .send else { return Order(role, Listen(mode)) }
            return Order(role, Listen(mode, from: last?.end, captured: last?.captured))
        }
    }
}

extension AgentRole {
    fileprivate var other: AgentRole { self == .primary ? .standby : .primary }
}
