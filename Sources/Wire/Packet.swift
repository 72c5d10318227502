package import Media

/// The id of a session on the link. 0 stands for none.
package typealias SessionID = UInt32

/// A packet of the agent protocol.
package enum Packet: Sendable, Equatable {
    // Relay to agent
    case welcome(Welcome)
    case reject(Reject)
    case sessionAdd(SessionID, SessionParameters)
    case sessionUpdate(SessionID, SessionUpdate)
    case sessionRemove(SessionID)
    /// Asks for a keyframe that carries `request`, so that the relay can distinguish it from one that was already
    /// queued.
    case keyframeRequest(SessionID, request: UInt32)
    case snapshotRequest(SessionID, SnapshotRequest)
    case stop(Stop)
    case rested(SessionID, Rested)
    case watch(SessionID, Watch)
    /// Ends a watch by its id.
    case unwatch(SessionID, watch: UInt32)
    case input(SessionID, InputOrder)
    case clipboard(ClipboardOrder)
    case application(ApplicationOrder)
    case gamepad(GamepadOrder)
    case listen(Listen)
    /// An Opus packet of speech for the agent's microphone; empty when the speaker has ended.
    case speech([UInt8])

    // Agent to relay
    case hello(Hello)
    case heartbeat(Heartbeat)
    /// A heartbeat that the decoder leaves for another thread to read.
    case unreadHeartbeat(UnreadHeartbeat)
    case accessUnit(SessionID, AccessUnit)
    case status(SourceStatus)
    case sessionError(SessionID, SessionFailure)
    case snapshot(SessionID, Snapshot)
    case encoders(EncoderReports)
    case rest(SessionID, Rest)
    /// Asks for a resting session back, because it has something new.
    case wake(SessionID)
    /// The device's tracks that its sessions share. Sent at every change.
    case tracks(DeviceTracks)
    case watched(SessionID, WatchReport)
    case inputDone(SessionID, InputReport)
    case clipboardDone(ClipboardReport)
    /// What the agent can do on its desktop. Sent at every change.
    case inputs(InputCapabilities)
    case applicationDone(ApplicationAnswer)
    case gamepadFeedback(GamepadReport)
    case speechReport(SpeechReport)

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
        case .watch: .watch
        case .unwatch: .unwatch
        case .input: .input
        case .clipboard: .clipboard
        case .application: .application
        case .gamepad: .gamepad
        case .listen: .listen
        case .speech: .speech
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
        case .watched: .watched
        case .inputDone: .inputDone
        case .inputs: .inputs
        case .clipboardDone: .clipboardDone
        case .applicationDone: .applicationDone
        case .gamepadFeedback: .gamepadFeedback
        case .speechReport: .speechReport
        }
    }

    /// The track that the packet belongs to; see ``PacketHeader/track``.
    package var track: MediaTrack.ID {
        if case .accessUnit(_, let unit) = self { unit.header.track } else { MediaTrack.videoID }
    }

    package var session: SessionID {
        switch self {
        case .sessionAdd(let id, _), .sessionUpdate(let id, _), .sessionRemove(let id), .keyframeRequest(let id, _),
            .snapshotRequest(let id, _), .accessUnit(let id, _), .sessionError(let id, _), .snapshot(let id, _),
            .rested(let id, _), .rest(let id, _), .wake(let id), .watch(let id, _), .unwatch(let id, _),
            .watched(let id, _), .input(let id, _), .inputDone(let id, _):
            id
        case .welcome, .reject, .stop, .hello, .heartbeat, .unreadHeartbeat, .status, .encoders, .tracks, .inputs,
            .clipboard, .clipboardDone, .application, .applicationDone, .gamepad, .gamepadFeedback, .listen,
            .speech, .speechReport:
            0
        }
    }
}

/// The relay's answer to a HELLO that it accepts.
package struct Welcome: Sendable, Equatable, Codable {
    /// How often the agent must send a HEARTBEAT, in ms.
    package var heartbeatInterval: Int
    /// How much media of a session the agent may queue before it drops to the next keyframe, in ms.
    package var maximumQueuedMedia: Int
    /// Whether the relay accepts REST; absent means no.
    package var takesRest: Bool?
    /// Whether the relay accepts ``Heartbeat/unchanged``; absent means no.
    package var takesUnchanged: Bool?
    /// Whether the relay accepts the device's tracks (TRACKS and their units); absent means no.
    package var takesTracks: Bool?
    /// Whether the relay accepts a track of AAC, and asks for it; absent means no.
    package var takesAAC: Bool?
    /// Whether the relay accepts INPUTS, and the geometry of snapshots and access units; absent means no.
    package var takesInputs: Bool?

    package init(
        heartbeatInterval: Int,
        maximumQueuedMedia: Int,
        takesRest: Bool? = nil,
        takesUnchanged: Bool? = nil,
        takesTracks: Bool? = nil,
        takesAAC: Bool? = nil,
        takesInputs: Bool? = nil
    ) {
        self.heartbeatInterval = heartbeatInterval
        self.maximumQueuedMedia = maximumQueuedMedia
        self.takesRest = takesRest
        self.takesUnchanged = takesUnchanged
        self.takesTracks = takesTracks
        self.takesAAC = takesAAC
        self.takesInputs = takesInputs
    }
}

/// The relay's answer to a HELLO, or to other bytes, that it does not accept. It then closes the link.
package struct Reject: Sendable, Equatable, Codable {
    package enum Code: String, Sendable, Codable {
        case wrongToken = "wrong_token"
        /// The token is correct, but the process belongs to a user who may not run agents.
        case wrongUser = "wrong_user"
        case unknownDevice = "unknown_device"
        /// A newer agent of the same device and role has replaced this one.
        case displaced
        case protocolError = "protocol_error"
        case helloTimeout = "hello_timeout"
        /// Too many connections have not sent HELLO yet.
        case tooManyConnections = "too_many_connections"
        case draining
        /// The relay cannot check the agent for now.
        case unavailable

        /// Whether the same agent would be rejected again. After other causes, an agent tries again.
        package var isFinal: Bool {
            switch self {
            case .wrongToken, .wrongUser, .unknownDevice, .protocolError, .displaced: true
            case .helloTimeout, .tooManyConnections, .draining, .unavailable: false
            }
        }
    }

    package var code: Code
    /// The reason as one sentence for people.
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
        /// The requested encoder does not work on this machine.
        case encoderUnavailable = "encoder_unavailable"
        /// The encoder rejects these settings.
        case encoderRefused = "encoder_refused"
        /// The encoder failed repeatedly.
        case encoderFailed = "encoder_failed"
        /// The system refuses a resource that the session needs, such as a thread.
        case outOfResources = "out_of_resources"
    }

    package var code: Code
    /// The reason and what to do, for people.
    package var reason: String

    package init(code: Code, reason: String) {
        self.code = code
        self.reason = reason
    }
}

/// The state of the capture source. Sent at every change.
package struct SourceStatus: Sendable, Equatable, Codable {
    /// The cause while the desktop asks a person what to share.
    package static let waitingForConsent = "waiting_for_consent"

    package enum State: String, Sendable, Codable {
        /// Being opened: waiting for permission or negotiation.
        case opening
        /// Frames arrive, or will arrive when the screen changes.
        case streaming
        /// The compositor has paused the stream.
        case paused
        /// Lost. The agent tries again on its own.
        case lost
    }

    package var state: State
    /// The kind of the source that `auto` has picked; absent if HELLO named it.
    package var kind: String?
    /// The reason for `paused` and `lost`: a stable code such as `portal_unavailable`.
    package var cause: String?
    /// The reason and what to do, for people.
    package var detail: String?
    /// The size of the source picture, once it is known.
    package var size: PictureSize?
    /// Clockwise quarter turns, 0 to 3, that make the source's picture upright, once they are known.
    package var orientation: UInt8?
    /// How long each stage of opening took, in ms.
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

/// The agent's figures since it started. Its arrival shows that the link and the agent are alive.
package struct Heartbeat: Sendable, Equatable, Codable {
    /// When it was made, in monotonic ns: the base of per-second rates.
    package var clock: UInt64
    /// Frames that the source delivered with pixels.
    package var framesReceived: UInt64
    /// Buffers that the source delivered empty or marked corrupted.
    package var buffersSkipped: UInt64
    /// Frames copied because the source had too few free buffers to lease one.
    package var framesCopied: UInt64
    /// The number of bytes that wait in the agent for the link, including the rest of a partly written packet.
    package var linkQueuedBytes: Int
    package var sessions: [SessionFigures]
    /// The sessions whose figures are the same as in the link's last heartbeat; absent means none.
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

/// The figures of one session in a heartbeat.
package struct SessionFigures: Sendable, Equatable, Codable {
    package var session: SessionID
    /// The encoder's name, for example `x264`; empty until it is open.
    package var encoder: String
    /// Why this encoder was chosen instead of the session's first choice, for people.
    package var encoderReason: String?
    /// Why all repeats are encoded, if the encoder's stream allows no others.
    package var repeatRefusal: String?
    /// The size of the encoded picture, once it is known.
    package var size: PictureSize?
    /// Whether a picture of the session is due and waits while other sessions are encoded; `nil` means no.
    package var awaitsTurn: Bool?
    package var counters: SessionCounters
    /// Access units dropped because the link was more than `Welcome.maximumQueuedMedia` behind or they were too large
    /// for a packet.
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
