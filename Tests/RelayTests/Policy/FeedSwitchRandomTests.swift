import NIOCore
import Relay
import TestSupport
import Testing
import Wire

@Suite("A feed switch in random sequences")
struct FeedSwitchRandomTests {
    @Test("follows a flapping source at most once a second")
    func flaps() {
        var stage = FeedStage.live()
        var now: Int64 = 0
        while now < 60_000 {
            now += 100
            stage.report(.primary, now / 100 % 2 == 0 ? .streaming : .lost, at: now)
            for role in [AgentRole.primary, .standby] where stage.active.contains(role) {
                // Answers the last request, otherwise continues.
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
        var stage = FeedStage()
        var linked: Set<AgentRole> = []
        // What each agent's encoder made last, and what viewers saw last: (link, number).
        var made: [AgentRole: Int] = [:]
        var links: [AgentRole: Int] = [:]
        var seen: (AgentRole, link: Int, number: Int)?
        var now: Int64 = 0
        for _ in 0..<5000 {
            now += .random(in: 0...200, using: &generator)
            let role = Bool.random(using: &generator) ? AgentRole.primary : .standby
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
            case 3: _ = stage.requestKeyframe(at: now)
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
            }
            if let current = stage.feeds.current {
                #expect(linked.contains(current))
                #expect(stage.active.contains(current))
            }
        }
    }
}
