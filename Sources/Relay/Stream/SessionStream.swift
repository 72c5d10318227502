package import Media
package import NIOCore

/// A session's tracks and their units, on their way from what makes them to all sinks.
@MediaLoop
package final class SessionStream {
    let codec: Codec
    /// The session's video first.
    package private(set) var tracks: [MediaTrack]
    /// Which agent's source delivers.
    package private(set) var feed = FeedSwitch.Source.none

    /// In the order in which they are told.
    private var sinks: [any Sink] = []
    private var group: GroupCache<MediaUnit>
    private var lastKeyframe: NIODeadline?
    private var hasEnded = false

    // What sinks got, or would have got. Pictures only.
    package private(set) var pictures: UInt64 = 0
    private(set) var bytes: UInt64 = 0
    private(set) var keyframes: UInt64 = 0
    /// The last picture's size, once known.
    package private(set) var size: PictureSize?
    /// Clockwise quarter turns that a player of the last picture applies, 0 to 3, once known.
    private(set) var orientation: UInt8?

    package init(codec: Codec, limits: GroupCache<MediaUnit>.Limits = .init()) {
        self.codec = codec
        tracks = [.video(codec)]
        group = GroupCache(limits: limits)
    }

    // MARK: Sinks

    /// Has a sink told what happens from now on, until it is detached or the stream ends.
    ///
    /// - Parameter isFirst: Whether it is told before those that are attached already: nothing else delays viewers' pictures.
    /// - Returns: Whether the stream goes on.
    @discardableResult
    package func attach(_ sink: any Sink, isFirst: Bool = false) -> Bool {
        guard !hasEnded else { return false }
        sinks.insert([sink], before: isFirst ? 0 : sinks.count)
        return true
    }

    /// A sink that is detached while an item is told may still get that item.
    package func detach(_ sink: any Sink) { sinks.removeAll { $0 === sink } }

    /// What satisfies all sinks.
    package var demand: Demand { sinks.reduce(.none) { $0.joined(with: $1.demand) } }

    /// Whether a sink can go on with nothing but a keyframe.
    package var starves: Bool { sinks.contains { $0.starves } }

    /// Whether a sink keeps the session from its ttl.
    package var isInUse: Bool { sinks.contains { $0.isUse } }

    /// What a sink that joins now may take first; empty if it waits for the next keyframe.
    package func join(now: NIODeadline) -> [MediaUnit] { group.join(now: now) }

    /// Whether the last keyframe is older than some sink wants it to be.
    package func isKeyframeDue(now: NIODeadline) -> Bool {
        guard let most = demand.keyframeWithin, let lastKeyframe else { return false }
        return now - lastKeyframe >= most
    }

    // MARK: What happens

    /// Hands a unit to all sinks.
    package func publish(_ unit: MediaUnit, now: NIODeadline) {
        if unit.isVideo {
            pictures += 1
            bytes += UInt64(unit.byteCount)
            size = unit.header.size
            orientation = unit.header.orientation
            if unit.isKey {
                keyframes += 1
                lastKeyframe = now
            }
        }
        group.add(unit, isKey: unit.isVideo && unit.isKey, byteCount: unit.byteCount, now: now)
        tell(.unit(unit))
    }

    /// Pictures that were not made because no sink wanted them.
    func count(_ repeats: UInt64) { pictures += repeats }

    package func feedChanged(to feed: FeedSwitch.Source) {
        guard feed != self.feed else { return }
        self.feed = feed
        tell(.feed(feed))
    }

    func sourceLost() { tell(.sourceLost) }

    /// The device's audio tracks have changed.
    package func soundChanged(to sound: [MediaTrack]) {
        guard !tracks.dropFirst().elementsEqual(sound) else { return }
        tracks = [.video(codec)] + sound
        tell(.tracks(tracks))
    }

    /// Empties the group. The next unit is a keyframe.
    package func forgetGroup() { group.drop() }

    /// Forgets the size: the next picture has another.
    func sizeChanges() { size = nil }

    /// Ends the stream for all sinks.
    package func end() {
        hasEnded = true
        tell(.end)
        sinks = []
    }

    private func tell(_ item: StreamItem) {
        for sink in sinks { sink.take(item) }
    }
}
