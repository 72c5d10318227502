package import Media

/// A request to report when a part of the screen reaches a goal.
///
/// The agent compares the pixels that a snapshot of the session would have, without a pointer that it draws itself. It
/// answers once, with a ``WatchReport``.
package struct Watch: Sendable, Equatable {
    package enum Goal: UInt8, Sendable, CaseIterable {
        /// The region changes, and is then unchanged for the time ``Watch/settled``.
        case changed = 1
        /// The region is unchanged for that time.
        case `static` = 2
        /// The region shows the template.
        case matches = 3
        /// The region does not show the template.
        case gone = 4
    }

    /// The most ignored regions.
    package static let maximumIgnored = 32
    /// The longest template, in bytes.
    package static let maximumTemplate = 1 << 20
    /// The value of ``share`` that stands for all pixels.
    package static let wholeShare = 1_000_000

    /// The id that the answer carries.
    package var id: UInt32
    package var goal: Goal
    /// How far a colour of a pixel may be from its reference, 0 to 255.
    package var tolerance: UInt8
    /// How many of the pixels may exceed the tolerance, in millionths.
    package var share: UInt32
    /// How long the region must be unchanged, in ms.
    package var settled: UInt32
    /// The region; empty for the whole picture. With a template, only its top left corner counts.
    package var region: PictureRegion
    /// Parts of the picture that do not count.
    package var ignored: [PictureRegion]
    /// A PNG file, whose transparent pixels do not count. Empty unless the goal needs it.
    package var template: [UInt8]

    package init(
        id: UInt32,
        goal: Goal,
        tolerance: UInt8 = 0,
        share: UInt32 = 0,
        settled: UInt32 = 0,
        region: PictureRegion = PictureRegion(x: 0, y: 0, width: 0, height: 0),
        ignored: [PictureRegion] = [],
        template: [UInt8] = []
    ) {
        self.id = id
        self.goal = goal
        self.tolerance = tolerance
        self.share = share
        self.settled = settled
        self.region = region
        self.ignored = ignored
        self.template = template
    }
}

/// The answer to a ``Watch``.
package struct WatchReport: Sendable, Equatable {
    /// The reason why the agent does not watch.
    package enum Refusal: UInt8, Sendable, Hashable, CaseIterable {
        case unknownSession = 1
        /// The agent has too many watches.
        case busy = 2
        /// The template is not a PNG image, or all of it is transparent.
        case brokenTemplate = 3
        /// The region, or the template at its place, is not within the picture.
        case outside = 4
    }

    package enum Outcome: Sendable, Equatable {
        /// The goal has been reached since the frame that was captured then, in monotonic ns.
        ///
        /// The box is the last change, or the template's place; empty if nothing changed.
        case happened(captured: UInt64, box: PictureRegion)
        case refusal(Refusal)
    }

    /// The watch's id.
    package var id: UInt32
    package var outcome: Outcome

    package init(id: UInt32, outcome: Outcome) {
        self.id = id
        self.outcome = outcome
    }
}
