package import NIOCore
package import Wire

extension FeedSwitch {
    /// Why another agent took over the feed.
    package enum Cause: String, Sendable, CaseIterable {
        /// The agent's link closed: it ended, or was ended.
        case linkClosed = "link_closed"
        /// The agent's link received no byte within the watchdog's time.
        case linkSilent = "link_silent"
        /// The agent broke the protocol, or stopped reading.
        case linkFailed = "link_failed"
        /// A newer agent replaced it.
        case displaced
        case sourcePaused = "source_paused"
        case sourceLost = "source_lost"
        /// Pictures were due and none came, although the link was healthy.
        case noPictures = "no_pictures"
        /// The broadcast's agent delivers again.
        case returned
    }

    /// An order to an agent about the session.
    package enum Order: Sendable, Equatable {
        case requestKeyframe(AgentRole, UInt32)
        case activate(AgentRole)
        case deactivate(AgentRole)
    }

    /// The origin of viewers' pictures, as reported to users.
    package enum Source: String, Sendable {
        /// The broadcast.
        case primary
        /// The standby.
        case standby
        /// No agent's source delivers. The last picture may repeat.
        case none
    }

    /// The limits that decide when an agent is overdue, and how often the feed may switch.
    package struct Policy: Sendable {
        /// Whether pictures are due while the screen is static.
        package var repeats: Bool
        /// Pictures per second.
        package var fps: Int
        /// How many pictures may be missing before an agent counts as overdue.
        package var missingPictures = 3
        /// How much longer than ``missingPictures`` the relay waits for a picture.
        package var patience = TimeAmount.seconds(1)
        /// Least time between switches while the agent that is left still delivers. It bounds how often a source that
        /// comes and goes causes a switch.
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
        /// Time from the last picture of the old feed to the first one of the new.
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
