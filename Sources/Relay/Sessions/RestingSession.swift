package import Media
import Pacing
package import Wire

/// A session with a static screen whose repeats the relay makes, until its agent takes the session back.
///
/// It repeats the last keyframe, with skip pictures between. A pure value; times are monotonic ns.
package struct RestingSession: Sendable {
    /// The greatest distance of the first slot from now, ns. Agent and relay read the same clock.
    private static let mostDistance: UInt64 = 5_000_000_000
    /// The longest time between keyframes, ns. It keeps sums of times from overflowing.
    private static let longestInterval: UInt64 = 3_600_000_000_000

    // A constant because building it for each slot would add 3 % to a slot's cost.
    private static let keyframeFlags: AccessUnit.Flags = [.key, .repeat, .skip]
    private static let skipFlags: AccessUnit.Flags = [.repeat, .skip]

    private var stream: RepeatableStream
    /// The keyframe as its agent sent it.
    private let keyframe: AccessUnit
    private let codec: Codec
    private let epoch: UInt64
    package let keyframeInterval: UInt64
    private var clock: SlotClock
    /// The slot in which the keyframe was last sent, and whether the relay sent it.
    private var lastKeyframe: (slot: UInt64, isResent: Bool)
    /// The results of the slots, reported to the agent.
    private var slots: UInt64 = 0
    private var inserted: UInt64 = 0

    /// Whether a sink waits for a keyframe.
    package var wantsKeyframe = false
    /// Whether a sink gets the pictures.
    ///
    /// If not, slots are counted and not filled. Only the keyframe is repeated after its interval, with one skip
    /// picture after it, so that it can be sent again as soon as a sink comes.
    package var isWatched = true

    /// How much earlier than half an interval after its slot a picture is made, ns; at most ``mostLead``.
    package var lead: UInt64 = 0

    /// How much earlier than its interval the first keyframe is sent, ns.
    package var keyframeLead: UInt64 = 0

    /// The greatest ``lead``, ns. A picture made before its slot could displace a frame that comes in time.
    package var mostLead: UInt64 { clock.interval(over: 2) }

    /// When the next keyframe is due without a request.
    private var keyframeDue: UInt64 {
        let interval = lastKeyframe.isResent ? keyframeInterval : keyframeInterval - min(keyframeLead, keyframeInterval)
        return lastKeyframe.slot + interval
    }

    /// Whether slots count as filled without a picture.
    private var isCounting: Bool { !isWatched && inserted > 0 }

    /// Creates the session from an agent's handover.
    ///
    /// - Parameters:
    ///   - keyframe: The agent's last access unit.
    ///   - epoch: The instant of PTS 0.
    /// - Returns: `nil` if the keyframe cannot be continued from, or the agent's values make no sense.
    package init?(_ rest: Rest, keyframe: AccessUnit, codec: Codec, epoch: UInt64, now: UInt64) {
        let distance = rest.slot > now ? rest.slot - now : now - rest.slot
        guard (1...240).contains(rest.fps), distance <= Self.mostDistance,
            let stream = try? RepeatableStream(codec: codec, resumingAt: keyframe.bytes)
        else { return nil }
        self.stream = stream
        self.keyframe = keyframe
        self.codec = codec
        self.epoch = epoch
        clock = SlotClock(fps: rest.fps)
        // The agent's keyframe may have left half an interval after its slot.
        clock.begin(at: rest.slot - min(rest.slot, clock.interval()))
        clock.skip(1)
        keyframeInterval = min(rest.keyframeInterval, Self.longestInterval)
        lastKeyframe = (rest.slot - min(rest.slot, clock.interval()), false)
    }

    /// The report to the agent when it takes the session back.
    package var rested: Rested {
        Rested(
            slots: UInt32(clamping: slots),
            inserted: UInt32(clamping: inserted),
            keyframe: lastKeyframe.isResent ? lastKeyframe.slot : nil
        )
    }

    /// When ``next(at:tally:)`` is due.
    ///
    /// This is half an interval after the slot, as an agent repeats, minus the ``lead``. If a keyframe is wanted, it is
    /// as early as possible.
    package var nextTime: UInt64 {
        guard let due = clock.due else { return .max }
        let usual = due + mostLead - min(lead, mostLead)
        if isCounting {
            let asked = wantsKeyframe ? lastKeyframe.slot + KeyframePolicy.requestSpacing : .max
            return min(max(usual, keyframeDue), max(clock.earliest, asked))
        }
        return wantsKeyframe && isKeyframeAllowed(at: due) ? clock.earliest : usual
    }

    /// Accounts for the slots that are over by `now`: as missed, or as filled if no sink would have got their pictures.
    ///
    /// - Returns: The number of pictures that no sink would have got.
    package mutating func count(to now: UInt64, tally: inout RestTally) -> UInt64 {
        let passed = clock.passOver(at: now)
        slots += passed
        guard isCounting else {
            tally.missed += passed
            return 0
        }
        tally.skipped += passed
        return passed
    }

    /// Returns the picture of the next slot, or `nil` if none is due at `now`. Call ``count(to:tally:)`` first.
    package mutating func next(at now: UInt64, tally: inout RestTally) -> AccessUnit? {
        guard now >= nextTime else { return nil }
        let slot = clock.takeSlot(at: now, onDemand: wantsKeyframe)
        slots += 1
        let isDue = slot + clock.interval() > keyframeDue
        var picture = keyframe
        if isDue || wantsKeyframe && isKeyframeAllowed(at: slot), let bytes = stream.resendKeyframe() {
            picture.bytes = bytes
            picture.flags = Self.keyframeFlags
            (lastKeyframe, inserted, wantsKeyframe) = ((slot, true), 0, false)
            tally.keyframes += 1
        } else if let bytes = stream.skip() {
            picture.bytes = DisplayOrientation.added(keyframe.orientation, to: bytes, codec: codec)
            picture.flags = Self.skipFlags
            inserted += 1
        } else {
            return nil
        }
        tally.skipped += 1
        tally.bytes += UInt64(clamping: picture.bytes.count)
        picture.pts = (Int64(clamping: slot) &- Int64(clamping: epoch)) / 1000
        picture.keyframeRequest = 0
        (picture.encodeStart, picture.encodeEnd) = (now, now)
        return picture
    }

    private func isKeyframeAllowed(at slot: UInt64) -> Bool {
        inserted > 0 && slot >= lastKeyframe.slot + KeyframePolicy.requestSpacing
    }
}
