import HeliographAPI
import Media
import NIOCore

/// What a session knows of its layers: itself, and while it needs one, a session with smaller pictures for viewers
/// whose connections carry much less.
@MediaLoop
final class SessionLayers {
    /// The session with smaller pictures; `nil` while there is none.
    fileprivate(set) weak var small: Session?
    /// The session for whose viewers this one has smaller pictures; `nil` if it has them for nobody else.
    fileprivate(set) weak var whole: Session?
    /// Starts the session with smaller pictures; `nil` if that cannot be now.
    var start: @MediaLoop (SessionRequest) async -> Session? = { _ in nil }
    fileprivate var isStarting = false
    fileprivate var nextStart = NIODeadline.uptimeNanoseconds(0)
}

extension Session {
    /// The time between two starts of the small layer, of which one has failed.
    private static let pause = TimeAmount.seconds(10)
    /// How long the small layer lives without a viewer, s.
    private static let smallTime = 10
    /// How many of the whole layer's pixels one of the small layer stands for.
    private static let pixelsPerPixel = 4

    /// What the layers' encoders may take; `nil` if there is one layer only.
    var layerBitrates: LayerChoice.Bitrates? {
        if let whole = layers.whole {
            return LayerChoice.Bitrates(whole: Double(whole.encoded.bitrate), small: Double(request.bitrate))
        }
        return smallRequest.map {
            LayerChoice.Bitrates(whole: Double(encoded.bitrate), small: Double($0.bitrate))
        }
    }

    /// The settings of the small layer; `nil` if the session has one layer only.
    private var smallRequest: SessionRequest? {
        let bitrate = request.bitrate / 2
        guard request.adapt == .followFastest, bitrate > request.leastBitrate else { return nil }
        var small = request
        small.label = "smaller pictures of session \(id)"
        (small.bitrate, small.adapt) = (bitrate, .followSlowest)
        if let size = wholeSize {
            let pixels = max(256, size.width &* size.height / Self.pixelsPerPixel)
            small.maxPixels = min(small.maxPixels ?? pixels, pixels)
        }
        (small.record, small.onDemand, small.ttl, small.port) = (false, true, Self.smallTime, 0)
        return small
    }

    /// The viewers of another session that watch this one.
    private func guests(of whole: Session) -> [any Viewer] { audience.viewers.filter { $0.belongs(to: whole) } }

    /// How many of its viewers watch its small layer.
    var smallViewers: Int { layers.small.map { $0.guests(of: self).count } ?? 0 }

    /// Moves viewers to the layers that suit them.
    ///
    /// - Parameter hasFollowed: Whether the bitrate follows a viewer that watches this layer.
    func moveViewers(hasFollowed: Bool) {
        if let whole = layers.whole {
            guard whole.isRunning else { return }
            for viewer in guests(of: whole) where !viewer.wantsSmall { handOver(viewer, to: whole) }
            return
        }
        guard hasFollowed, let wanted = smallRequest else { return takeBack() }
        let moving = audience.viewers.filter(\.wantsSmall)
        guard !moving.isEmpty else { return }
        guard let small = layers.small, small.isRunning else { return startSmall(wanted) }
        for viewer in moving where small.hasRoom { handOver(viewer, to: small) }
    }

    /// Has the small layer follow other settings.
    func changeSmall() {
        guard let wanted = smallRequest else { return takeBack() }
        // Ports and what cannot change are the same.
        try? layers.small?.change(to: wanted)
    }

    /// Gives all viewers the whole layer.
    func takeBack() {
        guard let small = layers.small else { return }
        for viewer in small.guests(of: self) {
            viewer.becomeWhole()
            small.handOver(viewer, to: self)
        }
    }

    /// Gives viewers of another session its pictures, before these end.
    func giveBack() {
        if let whole = layers.whole, whole.isRunning { whole.takeBack() }
    }

    /// Ends the streams of its viewers that watch the small layer.
    func endSmall() {
        for viewer in layers.small?.guests(of: self) ?? [] {
            viewer.finish()
            layers.small?.audience.remove(viewer)
        }
    }

    /// Removes a viewer from the layer that it watches.
    func removeFromLayers(_ viewer: any Viewer) -> Bool {
        audience.remove(viewer) || layers.small?.audience.remove(viewer) == true
    }

    private func startSmall(_ wanted: SessionRequest) {
        guard !layers.isStarting, layers.nextStart <= .now() else { return }
        (layers.isStarting, layers.nextStart) = (true, .now() + Self.pause)
        Task { @MediaLoop in
            let small = await layers.start(wanted)
            layers.isStarting = false
            guard let small, isRunning else { return }
            (small.layers.whole, layers.small) = (self, small)
        }
    }

    private func handOver(_ viewer: any Viewer, to other: Session) {
        guard let viewer = viewer as? any RenditionViewer, audience.remove(viewer) else { return }
        viewer.watch(other)
        other.audience.add(viewer, join: .live)
        other.touch()
        other.followSinks()
    }
}
