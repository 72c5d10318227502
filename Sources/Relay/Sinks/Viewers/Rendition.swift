import Media
import NIOCore

/// A session's stream in one format. Each unit is packaged once for all viewers.
@MediaLoop
final class Rendition: Sink {
    private var muxer: StreamMuxer
    /// All packaged units since the last keyframe. The stream decides which viewers may begin with them.
    private var group = GroupCache<RenderedUnit>()
    private(set) var viewers: [any RenditionViewer] = []
    /// Whether its viewers can get sound.
    private let takesSound: Bool

    /// Creates a rendition.
    ///
    /// - Parameters:
    ///   - takesSound: Whether its viewers can get sound.
    ///   - units: The stream's units since its last keyframe, which this rendition begins with.
    init(_ muxer: StreamMuxer, takesSound: Bool, beginningWith units: [MediaUnit]) {
        self.muxer = muxer
        self.takesSound = takesSound
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
        viewers.isEmpty
            ? .none : Demand(video: .all, audio: muxer.hasSound && viewers.contains { $0.wantsSound })
    }

    var starves: Bool { viewers.contains { $0.starves } }

    func take(_ item: StreamItem) {
        switch item {
        case .unit(let unit): deliver(unit)
        case .tracks(let tracks): if takesSound { muxer.follow(tracks) }
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
