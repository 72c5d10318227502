import HeliographAPI
import Media
import NIOCore

/// The viewers of one session and their renditions, and the totals of former viewers.
@MediaLoop
final class Audience {
    /// A viewer with its limit.
    @MediaLoop
    private final class Member {
        let viewer: any Viewer
        var limit: ViewerLimit
        let attachment: Attachment
        /// Whether it has joined another session, of which this one is the small layer.
        let isGuest: Bool
        /// What it had got before it came.
        private let before: DeliveryCounters

        init(_ viewer: any Viewer, limit: TimeAmount?, attachment: Attachment, isGuest: Bool, now: NIODeadline) {
            self.viewer = viewer
            self.limit = ViewerLimit(limit: limit, from: viewer.progress, now: now)
            (self.attachment, self.isGuest) = (attachment, isGuest)
            before = viewer.counters
        }

        var delivered: DeliveryCounters { viewer.counters - before }
    }

    /// How a viewer gets the stream.
    private enum Attachment {
        case rendition(RenditionKey, any RenditionViewer)
        /// The viewer is itself a sink.
        case own(any Sink)
    }

    /// Identifies a rendition: viewers of one format get the same bytes if a container declares the same tracks.
    private struct RenditionKey: Hashable {
        let format: StreamFormat
        /// The codec in which its viewers can get sound, which the device has, or will have; `nil` if they cannot.
        let sound: SoundCodec?
        /// The tracks that a container declares; empty for a bare stream.
        let declared: [MediaTrack]
    }

    private let stream: SessionStream
    /// How long a viewer may be behind; `nil` for no limit.
    private let timeout: TimeAmount?
    private var members: [ObjectIdentifier: Member] = [:]
    private var renditions: [RenditionKey: Rendition] = [:]
    private var departed = DeliveryCounters()
    private(set) var admitted: UInt64 = 0
    /// The number of connections that the relay closed, by reason.
    private(set) var closed: [ViewerClosure: UInt64] = [:]

    /// Creates an audience without viewers.
    ///
    /// - Parameters:
    ///   - fps: Pictures per second.
    ///   - timeout: How long a viewer may be behind; `nil` for no limit.
    init(of stream: SessionStream, fps: Int, timeout: TimeAmount?) {
        self.stream = stream
        self.fps = fps
        self.timeout = timeout
    }

    /// Pictures per second.
    var fps: Int {
        didSet { for rendition in renditions.values { rendition.fps = fps } }
    }

    var count: Int { members.count }

    var viewers: some Sequence<any Viewer> { members.values.lazy.map(\.viewer) }

    /// Those that can change layers.
    var layered: [any LayeredViewer] { members.values.compactMap { $0.viewer as? any LayeredViewer } }

    /// Those that have joined the session of which this is the small layer.
    var guests: [any LayeredViewer] {
        guestCount == 0 ? [] : members.values.filter(\.isGuest).compactMap { $0.viewer as? any LayeredViewer }
    }

    /// The number of ``guests``.
    private(set) var guestCount = 0

    func isGuest(_ viewer: any Viewer) -> Bool { members[ObjectIdentifier(viewer)]?.isGuest == true }

    var delivered: DeliveryCounters { members.values.reduce(into: departed) { $0 += $1.delivered } }

    // MARK: Coming and going

    func add(_ viewer: any RenditionViewer, join: Join) {
        let now = NIODeadline.now()
        take(in: viewer, fromGroup: join == .cache && !stream.join(now: now).isEmpty, isGuest: false, now: now)
        admitted += 1
    }

    func add(_ viewer: any Viewer & Sink) {
        take(in: viewer, .own(viewer), isGuest: false, now: .now())
        admitted += 1
        stream.attach(viewer)
    }

    /// Adds a viewer that was admitted to another layer, and goes on at the next keyframe.
    ///
    /// - Parameter isGuest: Whether this is the small layer of the session that it has joined.
    func takeOver(_ viewer: any LayeredViewer, isGuest: Bool) {
        take(in: viewer, fromGroup: false, isGuest: isGuest, now: .now())
        guestCount += isGuest ? 1 : 0
    }

    private func key(of viewer: any RenditionViewer) -> RenditionKey {
        guard case .container = viewer.format else {
            return RenditionKey(format: viewer.format, sound: .opus, declared: [])
        }
        let sound = stream.expectsSound || stream.tracks.count > 1 ? viewer.sound : nil
        return RenditionKey(format: viewer.format, sound: sound, declared: stream.tracks.with(sound: sound))
    }

    private func begin(_ key: RenditionKey, now: NIODeadline) -> Rendition {
        let tracks = stream.tracks.with(sound: key.sound)
        let muxer = StreamMuxer(key.format, codec: stream.codec, tracks: tracks, fps: fps)
        // The first viewer may join live and the next one from the cache, so the rendition begins with the whole group.
        let rendition = Rendition(muxer, sound: key.sound, beginningWith: stream.join(now: now))
        renditions[key] = rendition
        stream.attach(rendition, isFirst: true)
        return rendition
    }

    private func take(in viewer: any RenditionViewer, fromGroup: Bool, isGuest: Bool, now: NIODeadline) {
        let key = key(of: viewer)
        let rendition = renditions[key] ?? begin(key, now: now)
        take(in: viewer, .rendition(key, viewer), isGuest: isGuest, now: now)
        rendition.add(viewer, fromGroup: fromGroup)
    }

    private func take(in viewer: any Viewer, _ attachment: Attachment, isGuest: Bool, now: NIODeadline) {
        let member = Member(viewer, limit: timeout, attachment: attachment, isGuest: isGuest, now: now)
        members[ObjectIdentifier(viewer)] = member
    }

    /// Removes a viewer.
    ///
    /// - Returns: Whether it was a viewer of this session.
    @discardableResult
    func remove(_ viewer: any Viewer) -> Bool {
        guard let member = members.removeValue(forKey: ObjectIdentifier(viewer)) else { return false }
        departed += member.delivered
        guestCount -= member.isGuest ? 1 : 0
        switch member.attachment {
        case .own(let sink): stream.detach(sink)
        case .rendition(let key, let viewer):
            guard let rendition = renditions[key] else { break }
            rendition.remove(viewer)
            guard rendition.viewers.isEmpty else { break }
            stream.detach(rendition)
            renditions[key] = nil
        }
        return true
    }

    /// Returns the viewers that have been behind for too long by `now`.
    func late(now: NIODeadline) -> [(viewer: any Viewer, reason: ViewerClosure)] {
        members.values.compactMap { member in
            member.limit.check(member.viewer.progress, now: now).map { (member.viewer, $0) }
        }
    }

    /// Closes a viewer's connection, if it still watches.
    func close(_ viewer: any Viewer, because reason: ViewerClosure) -> Bool {
        guard remove(viewer) else { return false }
        closed[reason, default: 0] += 1
        viewer.close(because: reason)
        return true
    }

    /// Ends all viewers' streams.
    func end() {
        for viewer in viewers {
            viewer.finish()
            remove(viewer)
        }
    }
}
