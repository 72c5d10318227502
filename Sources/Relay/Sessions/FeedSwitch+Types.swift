package import NIOCore
package import Wire

extension FeedSwitch {
    /// Why pictures come from another agent than before.
    package enum Cause: String, Sendable, CaseIterable {
        /// The agent's link closed: it ended, or was ended.
        case linkClosed = "link_closed"
        /// Its link brought no byte for the watchdog's time.
        case linkSilent = "link_silent"
        /// It broke the protocol, or read nothing.
        case linkFailed = "link_failed"
        /// A newer agent took its place.
        case displaced
        case sourcePaused = "source_paused"
        case sourceLost = "source_lost"
        /// Pictures were due and none came, while the link was well.
        case noPictures = "no_pictures"
        /// The broadcast's agent delivers again.
        case returned
    }

    /// What an agent is to be told of the session.
    package enum Order: Sendable, Equatable {
        case requestKeyframe(AgentRole, UInt32)
        case activate(AgentRole)
        case deactivate(AgentRole)
    }

    /// Where viewers' pictures come from, as users are told.
    package enum Source: String, Sendable {
        /// The broadcast.
        case primary
        /// The standby.
        case standby
        /// No agent's source delivers. The last picture may go on.
        case none
    }

    package struct Policy: Sendable {
        /// Whether pictures are due while the screen is static.
        package var repeats: Bool
        /// Pictures per second.
        package var fps: Int
        /// Pictures that may be missing...
        package var missingPictures = 3
        /// ...and how long beyond them none may come.
        package var patience = TimeAmount.seconds(1)
        /// Least time between switches while the agent that is left still delivers: a source that comes and goes is followed no faster.
        package var hold = TimeAmount.seconds(1)

        package init(repeats: Bool, fps: Int) {
            self.repeats = repeats
            self.fps = fps
        }

        var silence: TimeAmount {
            .nanoseconds(Int64(clamping: missingPictures) * 1_000_000_000 / Int64(clamping: max(1, fps))) + patience
        }
    }

    /// The switches so far.
    package struct Record: Sendable, Equatable {
        package fileprivate(set) var count = 0
        package fileprivate(set) var causes: [Cause: Int] = [:]
        /// From the last picture of the old feed to the first one of the new.
        package fileprivate(set) var lastGap: TimeAmount?
        package fileprivate(set) var gaps = GapHistogram()

        package init() {}

        mutating func add(_ cause: Cause, gap: TimeAmount) {
            count += 1
            causes[cause, default: 0] += 1
            lastGap = gap
            gaps.add(gap)
        }
    }
}
