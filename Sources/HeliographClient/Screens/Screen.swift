import HeliographAPI
import Media
import NIOCore

/// A screen that a program looks at and acts on: a ``Device``, by the session that its viewers share, or a ``Session``.
///
///     let screen = relay.device("left")
///     try await screen.wait(.matches("dialog", at: (412, 300)))
///     try await screen.click(500, 320)
///     let picture = try await screen.snapshot()
///
/// Places are pixels of its snapshots, from the top left corner.
public protocol Screen: Sendable {
    var relay: RelayClient { get }
    /// The session, as calls address it.
    var place: ScreenPlace { get }
}

/// Which session a ``Screen`` is.
public struct ScreenPlace: Sendable {
    package let session: SessionAddress
}

/// A device of a relay.
///
///     let device = relay.device("left")
///     try await device.start()
///
/// As a ``Screen`` it is the session that its viewers share, which they start by watching if the relay allows that.
public struct Device: Screen {
    public let relay: RelayClient
    public let name: String

    public var place: ScreenPlace { ScreenPlace(session: .shared(device: name)) }

    /// Starts the device's broadcast, unless it runs, and returns once it has a picture source.
    ///
    /// - Parameter timeout: The time limit for the source, 0.1 to 120 s.
    public func start(timeout: Duration = .seconds(15)) async throws(RelayError) {
        var start = BroadcastStart()
        start.timeout = timeout.seconds
        _ = try await relay.report(
            of: Routes.startBroadcast,
            start,
            at: .device(name),
            timeout: timeout + RelayClient.answerTime
        )
    }

    /// Stops the device's broadcast. Its sessions stay.
    ///
    /// - Parameter keepsScreenshots: Whether the device's screenshots go on feeding them, until the next start or stop.
    public func stop(keepingScreenshots keepsScreenshots: Bool = false) async throws(RelayError) {
        var stop = BroadcastStop()
        stop.keepScreenshots = keepsScreenshots
        _ = try await relay.report(of: Routes.stopBroadcast, stop, at: .device(name), timeout: RelayClient.stopTime)
    }

    /// Returns its session of a name, which need not run yet.
    public func session(_ name: String) -> Session {
        Session(relay: relay, place: ScreenPlace(session: .named(name, device: self.name)))
    }

    /// Uploads a PNG for ``ScreenCondition/matches(_:at:)``. Its transparent pixels do not count.
    ///
    /// - Parameters:
    ///   - png: At most 1 MiB.
    ///   - name: Letters, digits, `-` and `_`.
    public func upload(_ png: [UInt8], asTemplate name: String) async throws(RelayError) {
        _ = try await relay.answer(to: Routes.putTemplate, at: .named(name, of: self.name), upload: .init(bytes: png))
    }
}

/// A session of a relay.
///
///     var settings = SessionSettings()
///     settings.timeToLive = .seconds(60)
///     let session = device.session("test")
///     try await session.start(settings)
public struct Session: Screen {
    public let relay: RelayClient
    public let place: ScreenPlace

    /// Starts the session of this name, or changes it to these settings.
    ///
    /// - Throws: ``RelayError`` of the kind `badArgument` for a session that has no name.
    public func start(_ settings: SessionSettings = SessionSettings()) async throws(RelayError) {
        guard case .named = place.session else {
            throw RelayError(.badArgument, "\(place.session.text) has no name, and cannot be started by one")
        }
        var request = SessionRequest()
        request.codec = settings.codec == .h265 ? .h265 : .h264
        if let fps = settings.fps { request.fps = fps }
        if let bitrate = settings.bitrate { request.bitrate = bitrate }
        (request.width, request.height) = (settings.width, settings.height)
        request.ttl = settings.timeToLive.map { Int($0.seconds) }
        request.record = settings.isRecorded
        request.chroma = settings.hasFullChroma ? .full : .quarter
        _ = try await relay.report(of: Routes.putSession, request, at: place.session)
    }

    /// Ends the session, if there is one.
    public func stop() async throws(RelayError) {
        switch place.session {
        case .id: _ = try await relay.report(of: Routes.stopSession, at: place.session)
        case .named, .shared: _ = try await relay.report(of: Routes.deleteSession, at: place.session)
        }
    }
}

/// How a session encodes. What is `nil` is as the relay has it by default.
public struct SessionSettings: Sendable, Hashable {
    public enum Codec: String, Sendable {
        case h264, h265
    }

    public var codec = Codec.h264
    /// Pictures per second, 1 to 240.
    public var fps: Int?
    /// Bits per second.
    public var bitrate: Int?
    /// The size in pixels, which is that of the screen if both are `nil`. If only one is, the picture keeps its shape.
    public var width: Int?
    public var height: Int?
    /// Whether each pixel has a colour of its own (4:4:4), which keeps coloured text sharp. Otherwise four share one,
    /// which every player plays.
    public var hasFullChroma = false
    /// How long the session lives without a viewer; `nil` for until it is stopped.
    public var timeToLive: Duration?
    /// Whether the relay records it into its library.
    public var isRecorded = false

    public init() {}
}

extension RelayClient {
    /// Returns a device. The relay is not asked.
    public func device(_ name: String = "default") -> Device { Device(relay: self, name: name) }

    /// Returns a session. The relay is not asked.
    public func session(_ id: UInt32) -> Session { Session(relay: self, place: ScreenPlace(session: .id(id))) }

    /// Returns the session at an address, likewise.
    package func session(at address: SessionAddress) -> Session {
        Session(relay: self, place: ScreenPlace(session: address))
    }

    /// Returns the relay's devices.
    public func devices() async throws(RelayError) -> [Device] {
        try await report(of: Routes.listBroadcasts).broadcasts.map { device($0.device) }
    }
}

extension Duration {
    /// In seconds.
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
