import Discovery
import HeliographAPI
import NIOPosix

extension API {
    func addNearbyRelaysRoute(to routes: inout RouteTable) {
        routes.add(Routes.listNearbyRelays) { _, _, _ in await nearbyRelays.list() }
    }
}

/// Looks for relays in the local network, once for all who ask at the same time.
actor NearbyRelayFinder {
    /// How long it listens.
    private static let time = Duration.seconds(2)

    private var look: Task<NearbyRelays, Never>?

    func list() async -> NearbyRelays {
        if let look { return await look.value }
        let look = Task { await Self.find() }
        self.look = look
        defer { self.look = nil }
        return await look.value
    }

    private static func find() async -> NearbyRelays {
        var report = NearbyRelays()
        // The daemon may let a caller wait.
        guard let browser = try? await NIOThreadPool.singleton.runIfActive({ RelayBrowser() }) else { return report }
        try? await Task.sleep(for: time)
        report.relays = browser.relays.map(NearbyRelay.init)
        report.problem = browser.problem.map { "\($0). On Debian and Ubuntu: apt install avahi-daemon, or start it" }
        NIOThreadPool.singleton.submit { _ in browser.close() }
        return report
    }
}

extension NearbyRelay {
    init(_ relay: FoundRelay) {
        self.init()
        (url, name, host) = (relay.url, relay.name, relay.host)
        let announcement = relay.announcement
        (id, release, fingerprint) = (announcement.id, announcement.release, announcement.fingerprint)
        requiresPairing = announcement.requiresPairing
    }
}
