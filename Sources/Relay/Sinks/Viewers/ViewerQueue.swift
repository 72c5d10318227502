import NIOCore

/// What one viewer has been given, and lost.
package struct DeliveryCounters: Sendable, Equatable {
    package var pictures: UInt64 = 0
    package var bytes: UInt64 = 0
    /// Pictures dropped because the viewer was too slow.
    package var dropped: UInt64 = 0
    /// Times that it had to be continued at a later keyframe.
    package var resyncs: UInt64 = 0

    package init() {}

    package static func += (left: inout DeliveryCounters, right: DeliveryCounters) {
        left.pictures += right.pictures
        left.bytes += right.bytes
        left.dropped += right.dropped
        left.resyncs += right.resyncs
    }
}

/// The units that wait for one viewer.
///
/// It begins at a keyframe. When more waits than its limits allow, all of it is dropped and the viewer continues at the next keyframe:
/// a slow viewer sees a jump instead of an ever growing delay, and never a picture whose reference it did not get. Sound has limits of its
/// own and goes on at once.
package struct ViewerQueue: Sendable {
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
        /// Units of its track that the viewer lost right before this one; 0 for none. The picture after a gap is always a keyframe.
        package let lost: UInt64

        package var unit: MediaUnit { rendered.unit }
    }

    private let limits: Limits
    /// Most audio packets that wait: 10 s of 20 ms each.
    private static let mostSound = 500

    private var waiting = CircularBuffer<Entry>()
    private var waitingBytes = 0
    private var (waitingPictures, waitingSound) = (0, 0)
    /// Pictures lost that no entry tells of yet.
    private var lost: UInt64 = 0
    /// Audio packets lost that no entry tells of yet.
    private var lostSound: UInt64 = 0
    /// Whether its first keyframe has gone out or waits.
    private var hasBegun = false
    /// Units of all tracks that were taken out.
    package private(set) var taken: UInt64 = 0

    /// Whether only a keyframe is accepted next.
    package private(set) var needsKeyframe = true
    /// Of pictures.
    package private(set) var counters = DeliveryCounters()

    package init(limits: Limits) { self.limits = limits }

    package var isEmpty: Bool { waiting.isEmpty }

    /// Bytes of pictures that wait.
    package var byteCount: Int { waitingBytes }

    /// Whether pictures were dropped and no keyframe has come since to continue with.
    package var isBehind: Bool { needsKeyframe && counters.resyncs > 0 }

    /// Whether it has nothing left to give and waits for a keyframe.
    package var starves: Bool { needsKeyframe && waiting.isEmpty }

    package mutating func offer(_ rendered: RenderedUnit) {
        let unit = rendered.unit
        guard unit.isVideo else { return offerSound(rendered) }
        if needsKeyframe {
            guard unit.isKey else { return miss() }
            needsKeyframe = false
        } else if waitingPictures > 0, overflows(with: unit) {
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

    /// Sound never pushes a picture out, and needs none to go on.
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

    /// Takes note of a picture that this viewer cannot be given. Those that follow depend on it, up to the next keyframe.
    package mutating func miss() {
        if needsKeyframe {
            // Before its first keyframe a viewer has missed nothing.
            if counters.pictures > 0 || counters.resyncs > 0 { lose(1) }
            return
        }
        needsKeyframe = true
        counters.resyncs += 1
        lose(1)
    }

    /// The next unit to send.
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

    private mutating func dropAll() {
        counters.resyncs += 1
        // A gap that a dropped unit was to tell of is part of this one.
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
