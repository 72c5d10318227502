package import Media
import Pacing
package import Wire

/// A session whose screen is static and whose repeats the relay makes, until its agent asks for it: the last keyframe again and again,
/// and skip pictures between.
///
/// A pure value; times are monotonic ns.
package struct RestingSession: Sendable {
    /// How far from now the first slot may be, ns: agent and relay read one clock.
    private static let mostDistance: UInt64 = 5_000_000_000
    /// Longest time between keyframes, ns: far from where times overflow.
    private static let longestInterval: UInt64 = 3_600_000_000_000

    // Made once: 3 % of what a slot costs, otherwise.
    private static let keyframeFlags: AccessUnit.Flags = [.key, .repeat, .skip]
    private static let skipFlags: AccessUnit.Flags = [.repeat, .skip]

    private var stream: RepeatableStream
    /// As its agent sent it.
    private let keyframe: AccessUnit
    private let codec: Codec
    private let epoch: UInt64
    package let keyframeInterval: UInt64
    private var clock: SlotClock
    /// The slot in which the keyframe was sent, and whether that was by the relay.
    private var lastKeyframe: (slot: UInt64, isResent: Bool)
    /// What came of the slots, for the agent.
    private var slots: UInt64 = 0
    private var inserted: UInt64 = 0

    /// Whether somebody waits for a keyframe.
    package var wantsKeyframe = false
    /// Whether somebody gets its pictures. While nobody does, slots are counted and not filled: only the keyframe is sent again when its interval
    /// is over, and one skip picture behind it, so that it may be sent again whenever somebody comes.
    package var isWatched = true

    /// How much earlier than half an interval behind its slot a picture is made, ns: ``mostLead`` at most.
    package var lead: UInt64 = 0

    /// How much earlier than its interval the first keyframe is sent, ns.
    package var keyframeLead: UInt64 = 0

    /// The greatest ``lead``, ns: a picture ahead of its slot would take it from a frame that comes in time.
    package var mostLead: UInt64 { clock.interval(over: 2) }

    /// When the next keyframe is due though nobody asks for it.
    private var keyframeDue: UInt64 {
        let interval = lastKeyframe.isResent ? keyframeInterval : keyframeInterval - min(keyframeLead, keyframeInterval)
        return lastKeyframe.slot + interval
    }

    /// Whether slots are counted as if they had been filled.
    private var isCounting: Bool { !isWatched && inserted > 0 }

    /// - Parameters:
    ///   - keyframe: The agent's last access unit.
    ///   - epoch: The instant of PTS 0.
    /// - Returns: nil where the keyframe is none to go on from, or what the agent says makes no sense.
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
        // The agent's keyframe may have left half an interval behind its slot.
        clock.begin(at: rest.slot - min(rest.slot, clock.interval()))
        clock.skip(1)
        keyframeInterval = min(rest.keyframeInterval, Self.longestInterval)
        lastKeyframe = (rest.slot - min(rest.slot, clock.interval()), false)
    }

    /// What the agent is told when it has the session back.
    package var rested: Rested {
        Rested(
            slots: UInt32(clamping: slots),
            inserted: UInt32(clamping: inserted),
            keyframe: lastKeyframe.isResent ? lastKeyframe.slot : nil
        )
    }

    /// When ``next(at:tally:)`` is due: half an interval behind the slot, as an agent repeats, less the ``lead``; for somebody who waits as far ahead of
    /// it as may be.
    package var nextTime: UInt64 {
        guard let due = clock.due else { return .max }
        let usual = due + mostLead - min(lead, mostLead)
        if isCounting {
            let asked = wantsKeyframe ? lastKeyframe.slot + KeyframePolicy.requestSpacing : .max
            return min(max(usual, keyframeDue), max(clock.earliest, asked))
        }
        return wantsKeyframe && isKeyframeAllowed(at: due) ? clock.earliest : usual
    }

    /// Takes account of the slots that are over by `now`: as missed, or as filled where nobody would have got their pictures.
    ///
    /// - Returns: How many nobody would have got.
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

    /// The picture of the next slot; nil when none is due at `now`. ``count(to:tally:)`` comes before.
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
