package import FoundationEssentials
package import HeliographAPI
package import Wire

/// What a relay keeps over its own end, so that agents and viewers find it again as it was.
package struct RelayState: Sendable, Equatable, Codable {
    package struct Session: Sendable, Equatable, Codable {
        package var id: SessionID
        package var device: String
        package var request: SessionRequest
        /// The port that it listened on.
        package var port: Int
        /// The monotonic instant of PTS 0, ns; of the boot that the state is of.
        package var epoch: UInt64
        package var created: Date

        package init(
            id: SessionID,
            device: String,
            request: SessionRequest,
            port: Int,
            epoch: UInt64,
            created: Date
        ) {
            self.id = id
            self.device = device
            self.request = request
            self.port = port
            self.epoch = epoch
            self.created = created
        }

        /// Whether it can be gone on with: the file may hold anything.
        ///
        /// - Parameter now: Monotonic, ns.
        package func isSound(now: UInt64) -> Bool {
            request.isInRange && (1...65535).contains(port) && epoch <= now
                && (0...253_402_300_799).contains(created.timeIntervalSince1970)
        }
    }

    package struct Broadcast: Sendable, Equatable, Codable {
        package var device: String
        package var source: SourceRequest
        /// After how long without a session it ends, s; nil for never.
        package var ttl: Int?
        /// The processes of the agents that the relay has started, by role; they mean something in the boot that the state is of.
        package var agent: ProcessIdentity?
        package var standby: ProcessIdentity?

        package init(
            device: String,
            source: SourceRequest,
            ttl: Int? = nil,
            agent: ProcessIdentity? = nil,
            standby: ProcessIdentity? = nil
        ) {
            self.device = device
            self.source = source
            self.ttl = ttl
            self.agent = agent
            self.standby = standby
        }
    }

    package static let currentVersion = 2

    package var version = Self.currentVersion
    /// Tells one boot of the machine from the next, whose monotonic clock begins anew.
    package var boot: String
    /// What agents that run already will show.
    package var linkToken: String
    /// Ids are never used twice.
    package var lastSession: SessionID
    package var sessions: [Session]
    /// Those that the relay keeps running.
    package var broadcasts: [Broadcast]

    package init(
        boot: String = Self.currentBoot,
        linkToken: String,
        lastSession: SessionID,
        sessions: [Session],
        broadcasts: [Broadcast]
    ) {
        self.boot = boot
        self.linkToken = linkToken
        self.lastSession = lastSession
        self.sessions = sessions
        self.broadcasts = broadcasts
    }

    /// The kernel's id of this boot; empty where it tells none.
    package static let currentBoot =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))
        .map { String($0.prefix { !$0.isWhitespace }) } ?? ""

    /// Whether instants of the monotonic clock in it mean anything now.
    package var isOfThisBoot: Bool { !boot.isEmpty && boot == Self.currentBoot }
}
