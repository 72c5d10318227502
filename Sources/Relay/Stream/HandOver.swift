package import Media
import Synchronization

/// Hands a stream's items from the media loop to another thread or event loop. It copies no bytes and never waits.
///
/// It is bounded. At its limits it drops units until there is room and their track can continue; video continues at a
/// keyframe. An ``Item/gap(_:)`` takes the place of the dropped units.
///
///     let handOver = HandOver { thread.wake() }
///     // A sink, on the media loop:
///     var starves: Bool { handOver.starves }
///     func take(_ item: StreamItem) { handOver.push(item) }
///     // The thread, after each wake:
///     for item in handOver.drain() { … }
package final class HandOver: Sendable {
    /// An item of the stream, or a gap in it.
    package enum Item: Sendable {
        case item(StreamItem)
        case gap(Gap)
    }

    /// Units of one track that were lost.
    package struct Gap: Sendable, Equatable {
        package let track: MediaTrack.ID
        package let units: UInt64
    }

    /// The most units and bytes that wait.
    package struct Limits: Sendable {
        package var units = 600
        package var bytes = 16 << 20

        package init() {}
    }

    private struct State {
        var waiting: [Item] = []
        var (units, bytes) = (0, 0)
        /// Units lost since the last one of their track.
        var lost: [MediaTrack.ID: UInt64] = [:]

        mutating func tellGap(of track: MediaTrack.ID) {
            guard let units = lost.removeValue(forKey: track) else { return }
            waiting.append(.gap(Gap(track: track, units: units)))
        }

        /// Appends an item and removes one of its kind if no unit follows that one. So there are never more of them
        /// than units.
        mutating func replaceLast(_ item: StreamItem) {
            let lastUnit = waiting.lastIndex { if case .item(.unit) = $0 { true } else { false } } ?? -1
            var place = -1
            waiting.removeAll { other in
                place += 1
                return place > lastUnit && other.isKind(of: item)
            }
            waiting.append(.item(item))
        }
    }

    private let limits: Limits
    private let wake: @Sendable () -> Void
    private let state = Mutex(State())

    /// Creates an empty hand-over.
    ///
    /// - Parameter wake: Called on the media loop when an item arrives in an empty hand-over. It must not wait.
    package init(limits: Limits = Limits(), wake: @escaping @Sendable () -> Void) {
        self.limits = limits
        self.wake = wake
    }

    /// Whether video needs a keyframe to continue and there is room for one.
    package var starves: Bool {
        state.withLock { $0.lost[MediaTrack.videoID] != nil && $0.units < limits.units }
    }

    /// Adds an item, or drops a unit if there is no room for it.
    package func push(_ item: StreamItem) {
        let isFirst = state.withLock { state in
            let wasEmpty = state.waiting.isEmpty
            switch item {
            case .unit(let unit): append(unit, to: &state)
            case .feed, .sourceLost: state.replaceLast(item)
            case .tracks(let tracks):
                for id in state.lost.keys where !tracks.contains(where: { $0.id == id }) { state.tellGap(of: id) }
                state.replaceLast(item)
            case .end:
                for id in state.lost.keys { state.tellGap(of: id) }
                state.waiting.append(.item(item))
            }
            return wasEmpty && !state.waiting.isEmpty
        }
        if isFirst { wake() }
    }

    /// Removes and returns all waiting items, in order.
    package func drain() -> [Item] {
        state.withLock { state in
            defer { (state.waiting, state.units, state.bytes) = ([], 0, 0) }
            return state.waiting
        }
    }

    private func append(_ unit: MediaUnit, to state: inout State) {
        let track = unit.header.track
        // A single unit always fits.
        let hasRoom =
            state.units == 0 || state.units < limits.units && state.bytes + unit.byteCount <= limits.bytes
        guard hasRoom, state.lost[track] == nil || !unit.isVideo || unit.isKey else {
            return state.lost[track, default: 0] += 1
        }
        state.tellGap(of: track)
        state.waiting.append(.item(.unit(unit)))
        state.units += 1
        state.bytes += unit.byteCount
    }
}

extension HandOver.Item {
    fileprivate func isKind(of other: StreamItem) -> Bool {
        switch (self, other) {
        case (.item(.feed), .feed), (.item(.sourceLost), .sourceLost), (.item(.tracks), .tracks): true
        default: false
        }
    }
}
