package import Media
package import NIOCore

/// A consumer of a session's stream.
///
/// ``SessionStream/attach(_:isFirst:)`` attaches it. It then reads the stream's state: its feed, its tracks, and the
/// units that it may begin with. From there it gets the units of all tracks that any sink wants.
@MediaLoop
package protocol Sink: AnyObject {
    /// What the sink wants now. It may change at any time.
    var demand: Demand { get }

    /// Whether it needs a keyframe to continue and has room for one.
    var starves: Bool { get }

    /// Whether the sink counts as a use of the session, which keeps the session's ttl from running out.
    var isUse: Bool { get }

    /// Takes the next item of the stream. It must not wait, because all other sinks wait for it.
    func take(_ item: StreamItem)
}

extension Sink {
    package var starves: Bool { false }
    package var isUse: Bool { demand.video != .none }
}

/// What happens in a session's stream.
package enum StreamItem: Sendable {
    case unit(MediaUnit)
    /// The pictures that follow come from this agent's source.
    case feed(FeedSwitch.Source)
    /// The source of the current pictures no longer delivers. Repeats that follow may show the screen from before the
    /// loss.
    case sourceLost
    /// The stream has these tracks from now on.
    case tracks([MediaTrack])
    /// Nothing follows.
    case end
}

/// What a sink wants of a session.
package struct Demand: Sendable, Equatable {
    /// Which pictures a sink wants; higher levels include the lower ones.
    package enum Level: Int, Sendable, Comparable {
        /// Nothing. The sink takes what is made for others.
        case none
        /// Pictures of changes. For this demand alone, a resting session makes only an occasional keyframe.
        case changes
        /// A picture in each slot.
        case all

        package static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    package var video: Level
    /// The codecs in which it wants the device's sound.
    package var audio: Set<SoundCodec>
    /// The longest time between keyframes; `nil` for the session's own.
    package var keyframeWithin: TimeAmount?

    package init(video: Level, audio: Set<SoundCodec> = [], keyframeWithin: TimeAmount? = nil) {
        self.video = video
        self.audio = audio
        self.keyframeWithin = keyframeWithin
    }

    package static let none = Demand(video: .none)

    /// Returns the demand that satisfies both.
    package func joined(with other: Demand) -> Demand {
        Demand(
            video: max(video, other.video),
            audio: audio.union(other.audio),
            keyframeWithin: other.keyframeWithin.map { min($0, keyframeWithin ?? $0) } ?? keyframeWithin
        )
    }
}
