import HeliographAPI
import Media
import NIOCore

/// What a session knows of its layers: itself, and while it needs one, a session with smaller pictures for viewers
/// whose connections carry much less. Viewers that have moved there are its guests.
@MediaLoop
final class SessionLayers {
    /// The session with smaller pictures; `nil` while there is none.
    fileprivate(set) weak var small: Session?
    /// The session for whose viewers this one has smaller pictures; `nil` if it has them for nobody else.
    fileprivate(set) weak var whole: Session?
    /// Starts the session with smaller pictures; `nil` if that cannot be now.
    var start: @MediaLoop (SessionRequest) async -> Session? = { _ in nil }
    fileprivate var isStarting = false
    /// When the small layer may be started; later if it has failed.
    fileprivate var nextStart = NIODeadline.uptimeNanoseconds(0)
    /// Since when no viewer that is followed watches the whole layer; `nil` if one does.
    fileprivate var lonelySince: NIODeadline?
    /// The last known size of the whole layer's pictures.
    fileprivate var size: PictureSize?
}

extension Session {
    /// How long the small layer is not started again after it has failed.
    private static let pause = TimeAmount.seconds(60)
    /// How long the whole layer may have no viewer that is followed before all get it. A viewer may just be reloading.
    private static let patience = TimeAmount.seconds(2)
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
        guard request.adapt == .followFastest, bitrate > request.leastBitrate, let size = layers.size else {
            return nil
        }
        var small = request
        small.label = "smaller pictures of session \(id)"
        (small.bitrate, small.adapt) = (bitrate, .followSlowest)
        let pixels = max(256, size.width &* size.height / Self.pixelsPerPixel)
        small.maxPixels = min(small.maxPixels ?? pixels, pixels)
        (small.record, small.onDemand, small.ttl, small.port) = (false, true, Self.smallTime, 0)
        return small
    }

    /// Has the small layer follow the session's settings, and the size of its pictures.
    func changeSmall(size: PictureSize?) {
        layers.size = size ?? layers.size
        guard let small = layers.small, var wanted = smallRequest else { return }
        (wanted.record, wanted.recordWhen, wanted.label) = (
            small.request.record, small.request.recordWhen, small.request.label
        )
        wanted.port = small.request.port
        guard wanted != small.request else { return }
        // What cannot change is the same.
        try? small.change(to: wanted)
    }

    /// Moves viewers to the layers that suit them.
    ///
    /// - Parameter hasFollowed: Whether the bitrate follows a viewer that watches this layer.
    func moveViewers(hasFollowed: Bool, now: NIODeadline) {
        if let whole = layers.whole {
            guard whole.isRunning else { return }
            guard source.flows else { return whole.takeBack() }
            for viewer in audience.guests where !viewer.wantsSmall { handOver(viewer, to: whole) }
            return
        }
        guard let wanted = smallRequest else { return takeBack() }
        guard hasFollowed else {
            let since = layers.lonelySince ?? now
            layers.lonelySince = since
            if now - since >= Self.patience { takeBack() }
            return
        }
        layers.lonelySince = nil
        let moving = audience.layered.filter(\.wantsSmall)
        guard !moving.isEmpty else { return }
        guard let small = layers.small, small.isRunning else { return startSmall(wanted, now: now) }
        guard small.source.failure == nil else { return layers.nextStart = now + Self.pause }
        small.keepAwake()
        // Its encoder opens first: viewers go on here until its pictures come.
        guard small.source.flows else { return }
        for viewer in moving where small.hasRoom { handOver(viewer, to: small) }
    }

    /// Gives all viewers the whole layer.
    func takeBack() {
        layers.lonelySince = nil
        guard let small = layers.small else { return }
        for viewer in small.audience.guests {
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
        guard let small = layers.small else { return }
        for viewer in small.audience.guests {
            viewer.finish()
            small.audience.remove(viewer)
        }
    }

    /// Removes a viewer from the layer that it watches.
    func removeFromLayers(_ viewer: any Viewer) -> Bool {
        audience.remove(viewer) || layers.small?.audience.remove(viewer) == true
    }

    private func startSmall(_ wanted: SessionRequest, now: NIODeadline) {
        guard !layers.isStarting, layers.nextStart <= now else { return }
        layers.isStarting = true
        Task { @MediaLoop in
            let small = await layers.start(wanted)
            layers.isStarting = false
            guard let small, isRunning else { return layers.nextStart = .now() + Self.pause }
            (small.layers.whole, layers.small) = (self, small)
            // The settings may have changed meanwhile.
            changeSmall(size: nil)
        }
    }

    private func handOver(_ viewer: any LayeredViewer, to other: Session) {
        guard audience.remove(viewer) else { return }
        viewer.watch(other)
        other.audience.takeOver(viewer, isGuest: other.layers.whole === self)
        other.touch()
        other.followSinks()
    }
}
