package import Media

/// Identifies a session on the link. 0 stands for none.
package typealias SessionID = UInt32

/// One unit of the agent-relay protocol.
package enum Packet: Sendable, Equatable {
    // Relay to agent
    case welcome(Welcome)
    case reject(Reject)
    case sessionAdd(SessionID, SessionParameters)
    case sessionUpdate(SessionID, SessionUpdate)
    case sessionRemove(SessionID)
    /// Asks for a keyframe that carries `request`, so that the relay tells it from one that was already queued.
    case keyframeRequest(SessionID, request: UInt32)
    case snapshotRequest(SessionID, SnapshotRequest)
    case stop(Stop)
    case rested(SessionID, Rested)

    // Agent to relay
    case hello(Hello)
    case heartbeat(Heartbeat)
    /// What a decoder makes of a heartbeat that it leaves to another thread.
    case unreadHeartbeat(UnreadHeartbeat)
    case accessUnit(SessionID, AccessUnit)
    case status(SourceStatus)
    case sessionError(SessionID, SessionFailure)
    case snapshot(SessionID, Snapshot)
    case encoders(EncoderReports)
    case rest(SessionID, Rest)
    /// Asks for a session that rests: it has something new.
    case wake(SessionID)
    /// The device's tracks that its sessions share, at every change.
    case tracks(DeviceTracks)

    package var type: PacketType {
        switch self {
        case .welcome: .welcome
        case .reject: .reject
        case .sessionAdd: .sessionAdd
        case .sessionUpdate: .sessionUpdate
        case .sessionRemove: .sessionRemove
        case .keyframeRequest: .keyframeRequest
        case .snapshotRequest: .snapshotRequest
        case .stop: .stop
        case .rested: .rested
        case .hello: .hello
        case .heartbeat, .unreadHeartbeat: .heartbeat
        case .accessUnit: .accessUnit
        case .status: .status
        case .sessionError: .sessionError
        case .snapshot: .snapshot
        case .encoders: .encoders
        case .rest: .rest
        case .wake: .wake
        case .tracks: .tracks
        }
    }

    /// The track that it is about, see ``PacketHeader/track``.
    package var track: MediaTrack.ID {
        if case .accessUnit(_, let unit) = self { unit.header.track } else { MediaTrack.videoID }
    }

    package var session: SessionID {
        switch self {
        case .sessionAdd(let id, _), .sessionUpdate(let id, _), .sessionRemove(let id), .keyframeRequest(let id, _),
            .snapshotRequest(let id, _), .accessUnit(let id, _), .sessionError(let id, _), .snapshot(let id, _),
            .rested(let id, _), .rest(let id, _), .wake(let id):
            id
        case .welcome, .reject, .stop, .hello, .heartbeat, .unreadHeartbeat, .status, .encoders, .tracks:
            0
        }
    }
}

/// The relay's answer to a HELLO that it accepts.
package struct Welcome: Sendable, Equatable, Codable {
    /// How often the agent sends a HEARTBEAT, ms.
    package var heartbeatInterval: Int
    /// How much media of a session the agent may queue before it drops to the next keyframe, ms.
    package var maximumQueuedMedia: Int
    /// Whether the relay takes REST; absent: it does not.
    package var takesRest: Bool?
    /// Whether the relay takes ``Heartbeat/unchanged``; absent: it does not.
    package var takesUnchanged: Bool?
    /// Whether the relay takes the device's tracks: TRACKS, and their units; absent: it does not.
    package var takesTracks: Bool?

    package init(
        heartbeatInterval: Int,
        maximumQueuedMedia: Int,
        takesRest: Bool? = nil,
        takesUnchanged: Bool? = nil,
        takesTracks: Bool? = nil
    ) {
        self.heartbeatInterval = heartbeatInterval
        self.maximumQueuedMedia = maximumQueuedMedia
        self.takesRest = takesRest
        self.takesUnchanged = takesUnchanged
        self.takesTracks = takesTracks
    }
}

/// The relay's answer to a HELLO, or to bytes, that it does not accept. The link closes behind it.
package struct Reject: Sendable, Equatable, Codable {
    package enum Code: String, Sendable, Codable {
        case wrongToken = "wrong_token"
        /// The token is right, but it came from a process of a user who may run no agents.
        case wrongUser = "wrong_user"
        case unknownDevice = "unknown_device"
        /// A newer agent of the same device and role has taken the place of this one.
        case displaced
        case protocolError = "protocol_error"
        case helloTimeout = "hello_timeout"
        /// As many as may be are about to say HELLO.
        case tooManyConnections = "too_many_connections"
        case draining
        /// The relay lacks the means to judge the agent by.
        case unavailable

        /// Whether the same agent would be rejected again. The other causes pass by themselves: an agent tries again.
        package var isFinal: Bool {
            switch self {
            case .wrongToken, .wrongUser, .unknownDevice, .protocolError, .displaced: true
            case .helloTimeout, .tooManyConnections, .draining, .unavailable: false
            }
        }
    }

    package var code: Code
    /// One sentence for a person.
    package var reason: String

    package init(code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }
}

/// Ends the agent.
package struct Stop: Sendable, Equatable, Codable {
    package var reason: String

    package init(reason: String) { self.reason = reason }
}

/// A session that the agent cannot serve.
package struct SessionFailure: Sendable, Equatable, Codable {
    package enum Code: String, Sendable, Codable {
        /// A parameter is out of range.
        case invalidParameters = "invalid_parameters"
        /// The encoder that was asked for does not work on this machine.
        case encoderUnavailable = "encoder_unavailable"
        /// The encoder does not take these settings.
        case encoderRefused = "encoder_refused"
        /// The encoder failed again and again.
        case encoderFailed = "encoder_failed"
        /// The system refuses the agent what the session takes, such as a thread.
        case outOfResources = "out_of_resources"
    }

    package var code: Code
    /// Why and what to do, for a person.
    package var reason: String

    package init(code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }
}

/// What became of the capture source. Sent at every change.
package struct SourceStatus: Sendable, Equatable, Codable {
    package enum State: String, Sendable, Codable {
        /// Being opened: permission, negotiation.
        case opening
        /// Frames arrive, or will when the screen changes.
        case streaming
        /// The compositor has paused the stream.
        case paused
        /// Gone; the agent tries again by itself.
        case lost
    }

    package var state: State
    /// The kind of the source, where it is another than HELLO named: what `auto` has picked.
    package var kind: String?
    /// Why, for `paused` and `lost`: a stable code such as `portal_unavailable`.
    package var cause: String?
    /// Why and what to do, for a person.
    package var detail: String?
    /// The source picture's size, once known.
    package var size: PictureSize?
    /// Clockwise quarter turns, 0 to 3, that make the source's picture upright, once known.
    package var orientation: UInt8?
    /// How long each stage of opening took, ms.
    package var timings: [String: Double]?

    package init(
        state: State,
        kind: String? = nil,
        cause: String? = nil,
        detail: String? = nil,
        size: PictureSize? = nil,
        orientation: UInt8? = nil,
        timings: [String: Double]? = nil
    ) {
        self.state = state
        self.kind = kind
        self.cause = cause
        self.detail = detail
        self.size = size
        self.orientation = orientation
        self.timings = timings
    }
}

/// The agent's figures, since it started. Its arrival says that the link and the agent live.
package struct Heartbeat: Sendable, Equatable, Codable {
    /// When it was made, monotonic ns: the base of per-second rates.
    package var clock: UInt64
    /// Frames that the source delivered with pixels.
    package var framesReceived: UInt64
    /// Buffers that the source delivered empty or marked corrupted.
    package var buffersSkipped: UInt64
    /// Frames copied because the source had too few free buffers to lease one.
    package var framesCopied: UInt64
    /// Bytes that wait in the agent for the link, the rest of a packet that is half written included.
    package var linkQueuedBytes: Int
    package var sessions: [SessionFigures]
    /// Sessions whose figures are those of the link's last heartbeat; absent: none.
    package var unchanged: [SessionID]?

    package init(
        clock: UInt64,
        framesReceived: UInt64,
        buffersSkipped: UInt64,
        framesCopied: UInt64,
        linkQueuedBytes: Int,
        sessions: [SessionFigures],
        unchanged: [SessionID]? = nil
    ) {
        self.clock = clock
        self.framesReceived = framesReceived
        self.buffersSkipped = buffersSkipped
        self.framesCopied = framesCopied
        self.linkQueuedBytes = linkQueuedBytes
        self.sessions = sessions
        self.unchanged = unchanged
    }
}

/// One session's figures in a heartbeat.
package struct SessionFigures: Sendable, Equatable, Codable {
    package var session: SessionID
    /// The encoder's name, for example `x264`; empty until it is open.
    package var encoder: String
    /// Why it is this encoder, where it is not the session's first choice; for a person.
    package var encoderReason: String?
    /// Why repeats are all encoded, where the encoder's stream takes no others.
    package var repeatRefusal: String?
    /// The encoded picture's size, once known.
    package var size: PictureSize?
    /// Whether a picture of it is due and waits while other sessions' are encoded; nil for no.
    package var awaitsTurn: Bool?
    package var counters: SessionCounters
    /// Access units dropped because the link was more than `Welcome.maximumQueuedMedia` behind, or no packet had room for them.
    package var linkDrops: UInt64

    package init(
        session: SessionID,
        encoder: String,
        encoderReason: String? = nil,
        repeatRefusal: String? = nil,
        size: PictureSize?,
        awaitsTurn: Bool? = nil,
        counters: SessionCounters,
        linkDrops: UInt64
    ) {
        self.session = session
        self.encoder = encoder
        self.encoderReason = encoderReason
        self.repeatRefusal = repeatRefusal
        self.size = size
        self.awaitsTurn = awaitsTurn
        self.counters = counters
        self.linkDrops = linkDrops
    }
}
