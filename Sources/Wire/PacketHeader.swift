package import Media

/// Constants and the fixed header of the agent-relay protocol.
///
/// Every packet is a 16-byte big-endian header and `length` bytes of body:
///
///      0               1               2               3
///     +---------------+---------------+---------------+---------------+
///   0 | 'H'           | 'L'           | 'G'           | 'W'           |  magic
///     +---------------+---------------+---------------+---------------+
///   4 | version       | type          | track: id, 0 for video        |
///     +---------------+---------------+---------------+---------------+
///   8 | session: id, 0 for none                                       |
///     +---------------+---------------+---------------+---------------+
///  12 | length of the body in bytes, at most 16 MiB                   |
///     +---------------+---------------+---------------+---------------+
package struct PacketHeader: Equatable, Sendable {
    /// `HLGW` in ASCII.
    package static let magic: UInt32 = 0x484C_4757
    /// The protocol version that this code speaks.
    package static let version: UInt8 = 1
    /// The size of a header, in bytes.
    package static let byteCount = 16
    /// The longest body of any type, in bytes.
    package static let maximumLength = 16 << 20

    /// The raw packet type, which may be unknown to this version.
    package var type: UInt8
    /// The track that the packet belongs to; 0 is the session's video.
    package var track: MediaTrack.ID
    /// The session that the packet belongs to; 0 for none.
    package var session: UInt32
    /// The size of the body, in bytes.
    package var length: Int
}

/// The sender of a packet. Bit 6 of the type encodes it, so that even an unknown type has a direction.
package enum Direction: Sendable, Equatable {
    case relayToAgent
    case agentToRelay

    package init(type: UInt8) {
        self = type & 0x40 == 0 ? .relayToAgent : .agentToRelay
    }
}

/// The packet types of version 1.
package enum PacketType: UInt8, Sendable, CaseIterable {
    case welcome = 1
    case reject = 2
    case sessionAdd = 3
    case sessionUpdate = 4
    case sessionRemove = 5
    case keyframeRequest = 6
    case snapshotRequest = 7
    case stop = 8
    case rested = 9
    case watch = 10
    case unwatch = 11
    case input = 12
    case clipboard = 13
    case application = 14
    case gamepad = 15
    case listen = 16
    case speech = 17

    case hello = 65
    case heartbeat = 66
    case accessUnit = 67
    case status = 68
    case sessionError = 69
    case snapshot = 70
    case encoders = 71
    case rest = 72
    case wake = 73
    case tracks = 74
    case watched = 75
    case inputDone = 76
    case inputs = 77
    case clipboardDone = 78
    case applicationDone = 79
    case gamepadFeedback = 80
    case speechReport = 81

    package var direction: Direction { Direction(type: rawValue) }

    /// The longest body, in bytes.
    package var maximumLength: Int {
        switch self {
        case .accessUnit, .snapshot, .clipboard, .clipboardDone: PacketHeader.maximumLength
        // Enough for a thousand sessions.
        case .heartbeat: 2 << 20
        case .watch: WatchBody.maximumByteCount
        case .speech: SpeechReport.longestPacket
        // In JSON, a byte of ``ApplicationOrder/maximumText`` may take six.
        case .application: 1 << 20
        default: 256 << 10
        }
    }
}

/// The reason why bytes do not follow the agent protocol. Each one ends the link.
package enum WireError: Error, Equatable, CustomStringConvertible {
    case badMagic(UInt32)
    case unsupportedVersion(UInt8)
    case wrongDirection(type: UInt8)
    case tooLong(type: UInt8, length: Int, limit: Int)
    case malformedBody(type: PacketType, reason: String)

    package var description: String {
        switch self {
        case .badMagic(let magic):
            "not the Heliograph link protocol: it begins with 0x\(String(magic, radix: 16)), not with HLGW"
        case .unsupportedVersion(let version):
            "link protocol version \(version) is not supported, only \(PacketHeader.version): "
                + "install agent and relay of the same release"
        case .wrongDirection(let type):
            "packet type \(type) does not travel in this direction"
        case .tooLong(let type, let length, let limit):
            "a packet of type \(type) announces \(length) bytes; at most \(limit) are allowed here"
        case .malformedBody(let type, let reason):
            "malformed \(type) packet: \(reason)"
        }
    }
}
