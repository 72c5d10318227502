import HeliographAPI

/// Something that happened to a session while a program watches it.
///
/// Later releases have more cases, so a `switch` needs a `default`.
public enum LiveEvent: Sendable {
    /// The program watches the session: at first, and after each interruption.
    case connected(SessionFacts)
    /// The connection was lost, and with it control of the device. The client tries again by itself.
    case interrupted(RelayError)
    /// Pictures come again, after an interruption. Nothing was received for this time.
    case resumed(missed: Duration)
    /// The session has other tracks than before.
    case tracks([Track])
    /// The encoder may take more or less than before.
    case target(EncoderTarget)
    /// Pictures come from another agent than before, or from none.
    case feed(Feed)
    /// Another caller acts on the screen than before, or none, or this program may not any more.
    case control(Control)
    /// Input was refused.
    case refused(Refusal)
    /// What became of this program's gamepad; see ``GamepadLink``.
    case gamepad(GamepadStatus)
    /// Pictures were left out because this program, or its network, was too slow.
    case dropped(Int)
    /// The relay's figures of the last second.
    case statistics(RelayStatistics)
    /// An event that this release has no case for, as JSON: docs/reference/websocket.md.
    case other(type: String, json: String)

    /// Where a session's pictures come from.
    public enum Feed: String, Sendable {
        /// The device's capture agent.
        case primary
        /// The device's standby: screenshots.
        case standby
        /// None: the last picture may no longer show the screen.
        case none
    }
}

/// What a relay says about a session when a program connects.
public struct SessionFacts: Sendable {
    /// The relay's release.
    public let release: String
    public let session: UInt32
    public let device: String
    public let label: String?
    /// `h264` or `h265`.
    public let codec: String
    /// Pictures per second.
    public let fps: Int
    /// Bits per second.
    public let bitrate: Int
    /// The time of PTS 0, ns on the monotonic clock of the relay's machine.
    public let epoch: UInt64
    public let tracks: [Track]
}

/// What a session's encoder may take.
public struct EncoderTarget: Sendable, Hashable {
    /// Whether it follows what the connections of viewers carry.
    public let adapts: Bool
    /// Bits per second, at most.
    public let bitrate: Int
    /// Pictures per second.
    public let fps: Int
}

/// The right to act on a device's screen, and its holder.
public struct Control: Sendable, Hashable {
    /// Whether this program may act.
    public let may: Bool
    /// Why it may not, for people; `nil` if it may.
    public let why: String?
    /// Whether this program controls the device.
    public let isMine: Bool
    /// Its controller: the name of a key, or `local`; `nil` for none.
    public let controller: String?
    /// Whether the device's screen can be touched.
    public let hasTouch: Bool
    /// Whether the device has a microphone for speech.
    public let hasMicrophone: Bool
    /// Its speaker, likewise.
    public let speaker: String?
    /// Whether this program's last control ended because another controller took it.
    public let wasTaken: Bool
}

/// Why input was refused.
public struct Refusal: Sendable, Hashable {
    /// A word of docs/reference/websocket.md, such as `controlled` or `outside`.
    public let reason: String
    /// For people.
    public let detail: String
    /// The number of events that were refused for it since the last such event.
    public let count: Int
}

/// A relay's figures about a session and this viewer of it, each second.
public struct RelayStatistics: Sendable, Hashable {
    /// Pictures and bits per second that the relay has received.
    public let fps: Double
    public let bitrate: Double
    /// The session's viewers.
    public let viewers: Int
    /// The pictures and bytes that this viewer was sent, and the pictures left out, since it joined.
    public let pictures: Int
    public let bytes: Int
    public let dropped: Int
}
