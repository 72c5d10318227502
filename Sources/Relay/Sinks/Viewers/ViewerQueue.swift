import NIOCore

/// The numbers of units that one viewer got and lost.
package struct DeliveryCounters: Sendable, Equatable {
    package var pictures: UInt64 = 0
    package var bytes: UInt64 = 0
    /// Pictures dropped because the viewer was too slow.
    package var dropped: UInt64 = 0
    /// How often the viewer had to continue at a later keyframe.
    package var resyncs: UInt64 = 0

    package init() {}

    package static func += (left: inout DeliveryCounters, right: DeliveryCounters) {
        left.pictures += right.pictures
        left.bytes += right.bytes
        left.dropped += right.dropped
        left.resyncs += right.resyncs
    }

    /// - Parameter right: Former counters of the same viewer.
    package static func - (left: DeliveryCounters, right: DeliveryCounters) -> DeliveryCounters {
        var difference = left
        difference.pictures &-= right.pictures
        difference.bytes &-= right.bytes
        difference.dropped &-= right.dropped
        difference.resyncs &-= right.resyncs
        return difference
    }
}

/// The units that wait for one viewer.
///
/// It begins at a keyframe. When its limits are exceeded, it drops all waiting units and continues at the next
/// keyframe. So a slow viewer sees a jump instead of a growing delay, and never a picture without its reference. Sound
/// has its own limit and continues at once.
package struct ViewerQueue: Sendable {
    /// The most that waits for one viewer.
    package struct Limits: Sendable {
        package var bytes = 4 << 20
        package var pictures = 600

        package init() {}

        package init(bytes: Int, pictures: Int) {
            self.bytes = bytes
            self.pictures = pictures
        }
    }

    /// A unit, and the gap before it.
    package struct Entry: Sendable {
        package let rendered: RenderedUnit
        /// Units of its track lost right before this one; 0 for none. The picture after a gap is always a keyframe.
        package let lost: UInt64

        package var unit: MediaUnit { rendered.unit }
    }

    private let limits: Limits
    /// Most audio packets that wait: 10 s of 20 ms each.
    private static let mostSound = 500

    private var waiting = CircularBuffer<Entry>()
    private var waitingBytes = 0
    private var (waitingPictures, waitingSound) = (0, 0)
    /// Lost pictures that no entry reports yet.
    private var lost: UInt64 = 0
    /// Lost audio packets that no entry reports yet.
    private var lostSound: UInt64 = 0
    /// Whether its first keyframe has been sent or queued.
    private var hasBegun = false
    /// Whether it waits for the first keyframe of other pictures.
    private var isRestarting = false
    /// The number of units of all tracks that were taken out.
    package private(set) var taken: UInt64 = 0

    /// Whether only a keyframe is accepted next.
    package private(set) var needsKeyframe = true
    /// The picture counters.
    package private(set) var counters = DeliveryCounters()

    package init(limits: Limits) { self.limits = limits }

    package var isEmpty: Bool { waiting.isEmpty }

    /// Bytes of pictures that wait.
    package var byteCount: Int { waitingBytes }

    /// Whether pictures were dropped and no keyframe has come since.
    package var isBehind: Bool { needsKeyframe && counters.resyncs > 0 }

    /// Whether it is empty and needs a keyframe.
    package var starves: Bool { needsKeyframe && waiting.isEmpty }

    package mutating func offer(_ rendered: RenderedUnit) {
        let unit = rendered.unit
        guard unit.isVideo else { return offerSound(rendered) }
        if needsKeyframe {
            guard unit.isKey else { return miss() }
            (needsKeyframe, isRestarting) = (false, false)
        } else if waitingPictures > 0, overflows(with: unit) {
            counters.resyncs += 1
            dropAll()
            guard unit.isKey else {
                lose(1)
                needsKeyframe = true
                return
            }
        }
        hasBegun = true
        append(Entry(rendered: rendered, lost: lost))
        lost = 0
    }

    /// Queues a unit of sound. It never displaces a picture, and needs no keyframe to continue.
    private mutating func offerSound(_ rendered: RenderedUnit) {
        guard hasBegun else { return }
        guard waitingSound < Self.mostSound else { return lostSound += 1 }
        append(Entry(rendered: rendered, lost: lostSound))
        lostSound = 0
    }

    private mutating func append(_ entry: Entry) {
        waiting.append(entry)
        count(entry, by: 1)
    }

    /// Records a picture that this viewer cannot get. Later ones depend on it, up to the next keyframe.
    package mutating func miss() {
        if needsKeyframe {
            // A viewer misses nothing before its first keyframe.
            if !isRestarting, counters.pictures > 0 || counters.resyncs > 0 { lose(1) }
            return
        }
        needsKeyframe = true
        counters.resyncs += 1
        lose(1)
    }

    /// Removes and returns the next unit to send.
    package mutating func next() -> Entry? {
        guard let entry = waiting.popFirst() else { return nil }
        count(entry, by: -1)
        taken += 1
        if entry.unit.isVideo {
            counters.pictures += 1
            counters.bytes += UInt64(entry.unit.byteCount)
        }
        return entry
    }

    /// Drops all waiting units, because they are too old. If pictures are among them, the viewer continues at the next
    /// keyframe. It does not count as slow for that.
    package mutating func skip() {
        guard !waiting.isEmpty else { return }
        if waitingPictures > 0 { needsKeyframe = true }
        dropAll()
    }

    /// Drops all waiting units, because other pictures follow from a keyframe on. The viewer has lost nothing.
    package mutating func restart() {
        waiting.removeAll(keepingCapacity: true)
        (waitingBytes, waitingPictures, waitingSound) = (0, 0, 0)
        (lost, lostSound) = (0, 0)
        (needsKeyframe, isRestarting) = (true, true)
    }

    private mutating func dropAll() {
        // A gap that a dropped unit was going to report becomes part of this one.
        for entry in waiting {
            if entry.unit.isVideo {
                lose(1)
                lost += entry.lost
            } else {
                lostSound += 1 + entry.lost
            }
        }
        waiting.removeAll(keepingCapacity: true)
        (waitingBytes, waitingPictures, waitingSound) = (0, 0, 0)
        hasBegun = counters.pictures > 0
    }

    private mutating func lose(_ pictures: UInt64) {
        counters.dropped += pictures
        lost += pictures
    }

    private mutating func count(_ entry: Entry, by sign: Int) {
        guard entry.unit.isVideo else { return waitingSound += sign }
        waitingPictures += sign
        waitingBytes += sign * entry.unit.byteCount
    }

    private func overflows(with unit: MediaUnit) -> Bool {
        waitingPictures >= limits.pictures || waitingBytes + unit.byteCount > limits.bytes
    }
}
