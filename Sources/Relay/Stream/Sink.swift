package import Media
package import NIOCore

/// Something that consumes a session's stream.
///
/// It is attached by ``SessionStream/attach(_:isFirst:)``, and then reads how the stream stands: its feed, its tracks, and the units that
/// it may begin with. It gets the units of all tracks that any sink wants.
@MediaLoop
package protocol Sink: AnyObject {
    /// What it wants now. It may change at any time.
    var demand: Demand { get }

    /// Whether it needs a keyframe to continue and has room for one.
    var starves: Bool { get }

    /// Whether the session is in use by it, which keeps the session from its ttl.
    var isUse: Bool { get }

    /// Takes what happens in the stream. It must not wait: all other sinks wait for it.
    func take(_ item: StreamItem)
}

extension Sink {
    package var starves: Bool { false }
    package var isUse: Bool { demand.video != .none }
}

/// What happens in a session's stream.
package enum StreamItem: Sendable {
    case unit(MediaUnit)
    /// Which agent's source delivers the pictures that follow.
    case feed(FeedSwitch.Source)
    /// The source that the pictures are from delivers no more. Repeats that follow may show what the screen showed before.
    case sourceLost
    /// The stream has these tracks from now on.
    case tracks([MediaTrack])
    /// Nothing follows.
    case end
}

/// What a sink wants of a session.
package struct Demand: Sendable, Equatable {
    package enum Level: Int, Sendable, Comparable {
        /// Nothing: it takes what others have made.
        case none
        /// Pictures of changes. A session that rests makes none for it but a keyframe now and then.
        case changes
        /// A picture in each slot.
        case all

        package static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    package var video: Level
    package var audio: Bool
    /// The longest time between keyframes; `nil` for the session's own.
    package var keyframeWithin: TimeAmount?

    package init(video: Level, audio: Bool = false, keyframeWithin: TimeAmount? = nil) {
        self.video = video
        self.audio = audio
        self.keyframeWithin = keyframeWithin
    }

    package static let none = Demand(video: .none)

    /// What satisfies both.
    package func joined(with other: Demand) -> Demand {
        Demand(
            video: max(video, other.video),
            audio: audio || other.audio,
            keyframeWithin: other.keyframeWithin.map { min($0, keyframeWithin ?? $0) } ?? keyframeWithin
        )
    }
}
