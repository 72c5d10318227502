package import FoundationEssentials
package import HeliographAPI
package import Program
package import Wire

/// The state that a relay keeps for its next run, so that agents and viewers find it unchanged.
package struct RelayState: Sendable, Equatable, Codable {
    /// A session that the next run restores.
    package struct Session: Sendable, Equatable, Codable {
        package var id: SessionID
        package var device: String
        package var name: String?
        package var request: SessionRequest
        /// The port that the session listened on.
        package var port: Int
        /// The port of its sound; `nil` without.
        package var soundPort: Int?
        /// The monotonic instant of PTS 0, ns; only valid on the state's boot.
        package var epoch: UInt64
        package var created: Date
        /// The id of its recording; `nil` if it is not recorded.
        package var recording: String?
        /// The name of the key that asked for it.
        package var recordedBy: String?

        package init(
            id: SessionID,
            device: String,
            name: String? = nil,
            request: SessionRequest,
            port: Int,
            soundPort: Int? = nil,
            epoch: UInt64,
            created: Date,
            recording: String? = nil,
            recordedBy: String? = nil
        ) {
            self.id = id
            self.device = device
            self.name = name
            self.request = request
            self.port = port
            self.soundPort = soundPort
            self.epoch = epoch
            self.created = created
            self.recording = recording
            self.recordedBy = recordedBy
        }

        /// Returns whether the session can be continued. The file may hold anything.
        ///
        /// - Parameter now: Monotonic ns.
        package func isSound(now: UInt64) -> Bool {
            request.isInRange && name?.isName != false && (1...65535).contains(port)
                && (1...65535).contains(soundPort ?? port) && epoch <= now
                && (0...253_402_300_799).contains(created.timeIntervalSince1970)
                && recording.map { UUID(uuidString: $0) != nil } ?? true && recordedBy?.isName != false
        }
    }

    /// A broadcast that the next run continues.
    package struct Broadcast: Sendable, Equatable, Codable {
        package var device: String
        package var source: SourceRequest
        /// How long the broadcast may be without a session before it ends, in s; `nil` for no limit.
        package var ttl: Int?
        /// The agent processes that the relay has started, by role; only valid on the state's boot.
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

    /// An application that the relay has launched on a desktop; only valid on the state's boot.
    package struct Application: Sendable, Equatable, Codable {
        package var device: String
        package var id: String
        package var name: String
        package var started: Date
        /// The process that was started; `nil` if it is unknown.
        package var process: ProcessIdentity?
        /// The user id of its processes; `nil` if it is unknown.
        package var user: UInt32?

        package init(
            device: String,
            id: String,
            name: String,
            started: Date,
            process: ProcessIdentity? = nil,
            user: UInt32? = nil
        ) {
            self.device = device
            self.id = id
            self.name = name
            self.started = started
            self.process = process
            self.user = user
        }

        /// Whether the application can be continued with. The file may hold anything.
        package var isSound: Bool {
            id.isName && 1...255 ~= name.utf8.count
                && (0...253_402_300_799).contains(started.timeIntervalSince1970)
        }
    }

    package static let currentVersion = 2

    package var version = Self.currentVersion
    /// The boot of the machine on which the state was kept. Each boot has its own monotonic clock.
    package var boot: String
    /// The token of agents that already run.
    package var linkToken: String
    /// The secret of signed links, in hexadecimal; absent in the state of older releases.
    private var hexLinkSecret: String?
    /// The last session id. Ids are never reused.
    package var lastSession: SessionID
    package var sessions: [Session]
    /// The broadcasts that the relay keeps running.
    package var broadcasts: [Broadcast]
    /// The applications that run; absent means none.
    package var applications: [Application]?

    package init(
        boot: String = Self.currentBoot,
        linkToken: String,
        linkSecret: SigningSecret? = nil,
        lastSession: SessionID,
        sessions: [Session],
        broadcasts: [Broadcast],
        applications: [Application] = []
    ) {
        self.boot = boot
        self.linkToken = linkToken
        hexLinkSecret = linkSecret?.hexadecimal
        self.lastSession = lastSession
        self.sessions = sessions
        self.broadcasts = broadcasts
        self.applications = applications.isEmpty ? nil : applications
    }

    /// The secret of signed links; `nil` if there is none. The file may hold anything.
    package var linkSecret: SigningSecret? { hexLinkSecret.flatMap(SigningSecret.init) }

    /// The kernel's id of this boot; empty if unknown.
    package static let currentBoot =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))
        .map { String($0.prefix { !$0.isWhitespace }) } ?? ""

    /// Whether its monotonic instants are valid now.
    package var isOfThisBoot: Bool { !boot.isEmpty && boot == Self.currentBoot }
}
