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

/// The pictures that wait for one viewer.
///
/// It begins at a keyframe. When more waits than its limits allow, all of it is dropped and the viewer continues at the next keyframe:
/// a slow viewer sees a jump instead of an ever growing delay, and never a picture whose reference it did not get.
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

    /// A picture, and the gap before it.
    package struct Entry: Sendable, Equatable {
        package let picture: Picture
        /// Pictures that the viewer lost right before this one, which is a keyframe then; 0 for none.
        package let lost: UInt64
    }

    private let limits: Limits
    private var waiting = CircularBuffer<Entry>()
    private var waitingBytes = 0
    /// Pictures lost that no entry tells of yet.
    private var lost: UInt64 = 0

    /// Whether only a keyframe is accepted next.
    package private(set) var needsKeyframe = true
    package private(set) var counters = DeliveryCounters()

    package init(limits: Limits) { self.limits = limits }

    package var isEmpty: Bool { waiting.isEmpty }

    /// Bytes that wait.
    package var byteCount: Int { waitingBytes }

    /// Whether pictures were dropped and no keyframe has come since to continue with.
    package var isBehind: Bool { needsKeyframe && counters.resyncs > 0 }

    /// Whether it has nothing left to give and waits for a keyframe.
    package var starves: Bool { needsKeyframe && waiting.isEmpty }

    package mutating func offer(_ picture: Picture) {
        if needsKeyframe {
            guard picture.isKey else { return miss() }
            needsKeyframe = false
        } else if !waiting.isEmpty, overflows(with: picture) {
            dropAll()
            guard picture.isKey else {
                lose(1)
                needsKeyframe = true
                return
            }
        }
        waiting.append(Entry(picture: picture, lost: lost))
        lost = 0
        waitingBytes += picture.byteCount
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

    /// The next picture to send.
    package mutating func next() -> Entry? {
        guard let entry = waiting.popFirst() else { return nil }
        waitingBytes -= entry.picture.byteCount
        counters.pictures += 1
        counters.bytes += UInt64(entry.picture.byteCount)
        return entry
    }

    private mutating func dropAll() {
        counters.resyncs += 1
        lose(UInt64(waiting.count))
        // A gap that a dropped keyframe was to tell of is part of this one.
        for entry in waiting { lost += entry.lost }
        waiting.removeAll(keepingCapacity: true)
        waitingBytes = 0
    }

    private mutating func lose(_ pictures: UInt64) {
        counters.dropped += pictures
        lost += pictures
    }

    private func overflows(with picture: Picture) -> Bool {
        waiting.count >= limits.pictures || waitingBytes + picture.byteCount > limits.bytes
    }
}
