import Access
import Discovery
import Files
import Logging
import NIOPosix
import Program
import Synchronization
import SystemPackage

/// Announces a relay that other machines can call in the local network.
struct NetworkAnnouncement {
    /// How long another certificate may go unannounced, and how often a relay that could not be announced is again.
    private static let refreshInterval = Duration.seconds(30)
    /// The longest name of a service, in bytes (RFC 6763, section 4.1.1).
    private static let longestName = 63
    /// What makes a machine's number the relay's.
    private static let purpose = "heliograph-relay"

    let host: String
    let tls: TLSServer
    let requiresPairing: Bool
    let logger: Logger

    /// Announces it until the task is cancelled.
    func run(port: UInt16) async {
        let log = AnnouncementLog(logger)
        var announced: (fingerprint: String, announcer: RelayAnnouncer)?
        repeat {
            let fingerprint = tls.description.fingerprint.text
            if let announced, announced.fingerprint == fingerprint, announced.announcer.isAnnounced { continue }
            if let announced { Self.close(announced.announcer) }
            // The daemon may let a caller wait.
            announced = try? await NIOThreadPool.singleton.runIfActive {
                (fingerprint, announcer(fingerprint, port, log))
            }
        } while (try? await Task.sleep(for: Self.refreshInterval)) != nil
        if let announced { Self.close(announced.announcer) }
    }

    private static func close(_ announcer: RelayAnnouncer) {
        NIOThreadPool.singleton.submit { _ in announcer.close() }
    }

    private func announcer(_ fingerprint: String, _ port: UInt16, _ log: AnnouncementLog) -> RelayAnnouncer {
        let announcement = RelayAnnouncement(
            id: Self.id(port: port, or: fingerprint),
            fingerprint: fingerprint,
            release: Release.current,
            requiresPairing: requiresPairing
        )
        return RelayAnnouncer(
            announcement,
            name: Self.name,
            port: port,
            isIPv4Only: !host.contains(":"),
            told: log.note
        )
    }

    /// The service's name, for people.
    private static var name: String {
        guard let machine = MachineName.current.split(separator: ".").first else { return "Heliograph" }
        var name = "Heliograph on \(machine)"
        while name.utf8.count > longestName { name.removeLast() }
        return name
    }

    /// Returns a number that is this machine's and this port's. It does not tell the machine's own, which is secret
    /// (machine-id(5)).
    ///
    /// - Parameter fingerprint: What to make it of on a machine without one.
    private static func id(port: UInt16, or fingerprint: String) -> String {
        let machine = try? BoundedFile.read("/etc/machine-id", atMost: 256)
        // Before its first start, a machine of an image has none, or says so in words.
        let key = machine.flatMap { $0.count >= 32 ? $0 : nil } ?? Array(fingerprint.utf8)
        let code = SHA256.authenticationCode(of: Array("\(purpose) \(port)".utf8), key: key)
        return Hexadecimal.text(of: code.prefix(8))
    }
}

/// Logs what becomes of announcements: their absence once, until it ends.
private final class AnnouncementLog: Sendable {
    private let logger: Logger
    private let isAbsent = Mutex(false)

    init(_ logger: Logger) { self.logger = logger }

    @Sendable func note(_ state: RelayAnnouncer.State) {
        switch state {
        case .announced(let name):
            isAbsent.withLock { $0 = false }
            logger.info("announced in the local network", metadata: ["name": "\(name)"])
        case .absent(let reason):
            let isNew = isAbsent.withLock { isAbsent in
                defer { isAbsent = true }
                return !isAbsent
            }
            if isNew { logger.info("not announced in the local network", metadata: ["reason": "\(reason)"]) }
        }
    }
}
