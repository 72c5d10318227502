import Media
import NIOCore

/// A session's stream in one format. Each unit is packaged once for all viewers.
@MediaLoop
final class Rendition: Sink {
    private var muxer: StreamMuxer
    /// All packaged units since the last keyframe. The stream decides which viewers may begin with them.
    private var group = GroupCache<RenderedUnit>()
    private(set) var viewers: [any RenditionViewer] = []

    /// Creates a rendition.
    ///
    /// - Parameter units: The stream's units since its last keyframe, which this rendition begins with.
    init(_ muxer: StreamMuxer, beginningWith units: [MediaUnit]) {
        self.muxer = muxer
        for unit in units {
            if let track = muxer.track(of: unit) { _ = render(unit, of: track) }
        }
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
        for unit in group.units { viewer.offer(unit) }
    }

    func remove(_ viewer: any RenditionViewer) { viewers.removeAll { $0 === viewer } }

    // MARK: Sink

    var demand: Demand { viewers.isEmpty ? .none : Demand(video: .all, audio: muxer.hasSound) }

    var starves: Bool { viewers.contains { $0.starves } }

    func take(_ item: StreamItem) {
        switch item {
        case .unit(let unit): deliver(unit)
        case .tracks(let tracks): muxer.keepTracks(tracks)
        case .feed, .sourceLost, .end: break
        }
    }

    private func deliver(_ unit: MediaUnit) {
        guard let track = muxer.track(of: unit) else { return }
        if let rendered = render(unit, of: track) {
            for viewer in viewers { viewer.offer(rendered) }
        } else if unit.isVideo {
            for viewer in viewers { viewer.miss() }
        }
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
