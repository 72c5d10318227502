package import Media
package import NIOCore

/// A session's tracks and their units, on their way from the session's source to all sinks.
@MediaLoop
package final class SessionStream {
    let codec: Codec
    /// The tracks, the session's video first, then the device's sound, once in each codec.
    package private(set) var tracks: [MediaTrack]
    /// Whether the device has sound, although no agent may have said so yet.
    package var expectsSound = false
    /// The agent whose source delivers.
    package private(set) var feed = FeedSwitch.Source.none

    /// The sinks, in the order in which they get items.
    private var sinks: [any Sink] = []
    private var group: GroupCache<MediaUnit>
    private var lastKeyframe: NIODeadline?
    private var hasEnded = false

    // Counters of the pictures that sinks got, or would have got.
    package private(set) var pictures: UInt64 = 0
    private(set) var bytes: UInt64 = 0
    private(set) var keyframes: UInt64 = 0
    /// The last picture's size; `nil` until known.
    package private(set) var size: PictureSize?
    /// Clockwise quarter turns that a player of the last picture applies, 0 to 3; `nil` until known.
    private(set) var orientation: UInt8?

    package init(codec: Codec, limits: GroupCache<MediaUnit>.Limits = .init()) {
        self.codec = codec
        tracks = [.video(codec)]
        group = GroupCache(limits: limits)
    }

    // MARK: Sinks

    /// Passes a sink all that happens from now on, until it is detached or the stream ends.
    ///
    /// - Parameter isFirst: Whether it gets items before the sinks that are attached already, so that nothing else
    ///   delays viewers' pictures.
    /// - Returns: Whether the stream goes on.
    @discardableResult
    package func attach(_ sink: any Sink, isFirst: Bool = false) -> Bool {
        guard !hasEnded else { return false }
        sinks.insert([sink], before: isFirst ? 0 : sinks.count)
        return true
    }

    /// Detaches a sink. A sink that is detached while an item is being delivered may still get that item.
    package func detach(_ sink: any Sink) { sinks.removeAll { $0 === sink } }

    /// The demand that satisfies all sinks.
    package var demand: Demand { sinks.reduce(.none) { $0.joined(with: $1.demand) } }

    /// Whether a sink needs a keyframe to continue.
    package var starves: Bool { sinks.contains { $0.starves } }

    /// Whether a sink's use keeps the session's ttl from running out.
    package var isInUse: Bool { sinks.contains { $0.isUse } }

    /// Returns the units that a sink joining now may take first; empty if it must wait for the next keyframe.
    package func join(now: NIODeadline) -> [MediaUnit] { group.join(now: now) }

    /// Returns whether the last keyframe is older than a sink allows.
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

    /// Counts pictures that were not made because no sink wanted them.
    func count(_ repeats: UInt64) { pictures += repeats }

    /// Tells the sinks which agent's source delivers, if that has changed.
    package func feedChanged(to feed: FeedSwitch.Source) {
        guard feed != self.feed else { return }
        self.feed = feed
        tell(.feed(feed))
    }

    func sourceLost() { tell(.sourceLost) }

    /// Replaces the device's audio tracks.
    package func soundChanged(to sound: [MediaTrack]) {
        guard !tracks.dropFirst().elementsEqual(sound) else { return }
        tracks = [.video(codec)] + sound
        tell(.tracks(tracks))
    }

    /// Empties the group. The next unit must be a keyframe.
    package func forgetGroup() { group.drop() }

    /// Forgets the size, because the next picture has another.
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
