import Media
import NIOCore

/// A session's stream in one format. Each unit is packaged once for all viewers.
@MediaLoop
final class Rendition: Sink {
    private var muxer: StreamMuxer
    /// All packaged units since the last keyframe. The stream decides which viewers may begin with them.
    private var group = GroupCache<RenderedUnit>()
    private(set) var viewers: [any RenditionViewer] = []
    /// The codec in which its viewers can get sound; `nil` if they cannot.
    private let sound: SoundCodec?

    /// Creates a rendition.
    ///
    /// - Parameters:
    ///   - sound: The codec in which its viewers can get sound; `nil` if they cannot.
    ///   - units: The stream's units since its last keyframe, which this rendition begins with.
    init(_ muxer: StreamMuxer, sound: SoundCodec?, beginningWith units: [MediaUnit]) {
        self.muxer = muxer
        self.sound = sound
        for unit in units { deliver(unit) }
    }

    /// Pictures per second.
    var fps: Int {
        get { muxer.fps }
        set { muxer.fps = newValue }
    }

    /// Adds a viewer.
    ///
    /// - Parameter fromGroup: Whether the viewer begins with the last keyframe instead of the next one.
    func add(_ viewer: any RenditionViewer, fromGroup: Bool) {
        viewers.append(viewer)
        guard fromGroup else { return }
        for unit in group.units { offer(unit, to: viewer) }
    }

    func remove(_ viewer: any RenditionViewer) { viewers.removeAll { $0 === viewer } }

    // MARK: Sink

    var demand: Demand {
        guard !viewers.isEmpty else { return .none }
        let wantsSound = muxer.hasSound && viewers.contains { $0.wantsSound }
        return Demand(video: .all, audio: Set([wantsSound ? sound : nil].compactMap(\.self)))
    }

    var starves: Bool { viewers.contains { $0.starves } }

    func take(_ item: StreamItem) {
        switch item {
        case .unit(let unit): deliver(unit)
        case .tracks(let tracks): if let sound { muxer.follow(tracks.with(sound: sound)) }
        case .feed, .sourceLost, .end: break
        }
    }

    private func deliver(_ unit: MediaUnit) {
        guard muxer.track(of: unit) != nil, let silence = muxer.silence(before: unit) else { return }
        for unit in silence + [unit] {
            if let rendered = muxer.track(of: unit).flatMap({ render(unit, of: $0) }) {
                for viewer in viewers { offer(rendered, to: viewer) }
            } else if unit.isVideo {
                for viewer in viewers { viewer.miss() }
            }
        }
    }

    private func offer(_ unit: RenderedUnit, to viewer: any RenditionViewer) {
        if unit.unit.isVideo || viewer.wantsSound { viewer.offer(unit) }
    }

    /// Packages a unit. If that fails, it returns `nil` and forgets the group of a picture, because later ones refer to
    /// it.
    private func render(_ unit: MediaUnit, of track: MediaTrack) -> RenderedUnit? {
        guard let rendered = muxer.rendered(unit, of: track) else {
            if unit.isVideo { group.drop() }
            return nil
        }
        group.add(rendered, isKey: unit.isVideo && unit.isKey, byteCount: rendered.bytes.readableBytes, now: .now())
        return rendered
    }
}
