import Media
import NIOCore
import Wire

/// Makes a session's repeats in place of an agent that has handed them over.
@MediaLoop
final class SessionRest {
    /// The state that all resting sessions share.
    @MediaLoop
    final class Company {
        fileprivate let timer: SharedTimer
        fileprivate var crowd = RestCrowd()

        init(timer: SharedTimer) { self.timer = timer }
    }

    private struct Resting {
        var session: RestingSession
        let role: AgentRole
        /// The session's place in the timer.
        let place: Int
    }

    private let id: SessionID
    private let company: Company
    private var resting: Resting?
    /// Whether the crowd counts this session.
    private var isCounted = false
    private var tallies = EachRole(RestTally())
    private let giveBack: @MediaLoop (Rested, AgentRole) -> Void
    private let put: @MediaLoop (AccessUnit, AgentRole) -> Void
    private let counted: @MediaLoop (UInt64) -> Void

    /// - Parameters:
    ///   - id: The session's id.
    ///   - giveBack: Returns the repeats to an agent, with the results of the rest.
    ///   - put: Takes a picture as if the agent had sent it. It may end the rest.
    ///   - counted: Records pictures that were not made because no sink would have got them.
    init(
        _ id: SessionID,
        company: Company,
        giveBack: @escaping @MediaLoop (Rested, AgentRole) -> Void,
        put: @escaping @MediaLoop (AccessUnit, AgentRole) -> Void,
        counted: @escaping @MediaLoop (UInt64) -> Void
    ) {
        self.id = id
        self.company = company
        self.giveBack = giveBack
        self.put = put
        self.counted = counted
    }

    /// Returns what was made in place of the agent of a role since it became active.
    func tally(of role: AgentRole) -> RestTally { tallies[role] }

    /// Restarts the count for the agent of a role at 0.
    func forgetTally(of role: AgentRole) { tallies[role] = RestTally() }

    /// Takes over an agent's repeats. A session that cannot rest is given back at once.
    ///
    /// - Parameter session: `nil` if the session cannot rest.
    func begin(_ session: RestingSession?, for role: AgentRole) {
        end()
        guard var session else { return giveBack(Rested(), role) }
        session.keyframeLead = RestCrowd.keyframeLead(of: id, interval: session.keyframeInterval)
        let place = company.timer.add { [weak self] in self?.fillSlot() }
        resting = Resting(session: session, role: role, place: place)
        followCrowd()
        arm()
    }

    /// Gives the repeats back, if it makes them.
    ///
    /// - Parameter role: Gives them back only to the agent of this role; `nil` for any.
    /// - Returns: Whether it made them.
    @discardableResult
    func end(for role: AgentRole? = nil) -> Bool {
        count()
        guard let resting, role == nil || role == resting.role else { return false }
        self.resting = nil
        company.timer.remove(resting.place)
        followCrowd()
        giveBack(resting.session.rested, resting.role)
        return true
    }

    /// Records that a sink waits for a keyframe.
    ///
    /// - Returns: Whether the next keyframe is made here.
    func requestKeyframe() -> Bool {
        guard resting != nil else { return false }
        resting?.session.wantsKeyframe = true
        arm()
        return true
    }

    /// Makes pictures only while a sink gets them. Called when a sink joins, and periodically.
    func follow(isWatched: Bool) {
        count()
        guard let former = resting?.session.isWatched, former != isWatched else { return }
        resting?.session.isWatched = isWatched
        followCrowd()
        arm()
    }

    private func count() {
        guard let role = resting?.role else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        let pictures = resting?.session.count(to: now, tally: &tallies[role]) ?? 0
        if pictures > 0 { counted(pictures) }
    }

    private func arm() {
        guard let most = resting?.session.mostLead else { return }
        resting?.session.lead = company.crowd.lead(of: id, most: most)
        guard let resting else { return }
        // A sink that waits for a keyframe gets it at once.
        let room = resting.session.wantsKeyframe ? 0 : company.crowd.room
        company.timer.set(resting.place, at: resting.session.nextTime, room: room)
    }

    private func followCrowd() {
        let counts = resting?.session.isWatched ?? false
        guard counts != isCounted else { return }
        isCounted = counts
        if counts { company.crowd.count += 1 } else { company.crowd.count -= 1 }
    }

    private func fillSlot() {
        guard let role = resting?.role else { return }
        count()
        let now = NIODeadline.now().uptimeNanoseconds
        if let made = resting?.session.next(at: now, tally: &tallies[role]) { put(made, role) }
        arm()
    }
}
