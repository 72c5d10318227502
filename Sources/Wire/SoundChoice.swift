/// Which sound of a device's desktop is captured.
///
/// As text: `off`, `desktop`, `virtual`, `sink:NAME`, `node:NAME` or `application:NAME`.
package enum SoundChoice: Sendable, Hashable, CustomStringConvertible {
    /// None.
    case off
    /// What the desktop's default sink plays.
    case desktop
    /// What a sink plays that the agent makes, for a desktop without sound hardware. It is the default sink unless the
    /// desktop's user has chosen another one.
    case virtual
    /// What the sink with this PipeWire name plays.
    case sink(String)
    /// What the node with this PipeWire name sends, for example a microphone.
    case node(String)
    /// The newest stream of an application, by the application's name in PipeWire or the stream's.
    case application(String)

    /// The longest name, in characters.
    private static let longestName = 256

    /// The allowed texts, for messages.
    package static let words = "off, desktop, virtual, sink:NAME, node:NAME, application:NAME"

    package init?(_ text: String) {
        switch text {
        case "off": self = .off
        case "desktop": self = .desktop
        case "virtual": self = .virtual
        default:
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let name = parts.last, (1...Self.longestName).contains(name.count),
                !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else { return nil }
            switch parts.first {
            case "sink": self = .sink(name)
            case "node": self = .node(name)
            case "application": self = .application(name)
            default: return nil
            }
        }
    }

    package var description: String {
        switch self {
        case .off: "off"
        case .desktop: "desktop"
        case .virtual: "virtual"
        case .sink(let name): "sink:\(name)"
        case .node(let name): "node:\(name)"
        case .application(let name): "application:\(name)"
        }
    }
}

/// How a device's sound is encoded.
package struct SoundCoding: Sendable, Equatable {
    package static let bitrates = 16...256

    /// The bitrate of each codec in kbit/s, one of ``bitrates``.
    package var bitrate = 128
    /// The duration of a packet of Opus.
    package var packet = PacketDuration.ms20

    package init() {}

    /// Whether the encoder looks 2.5 ms ahead instead of 6.5, at the cost of some quality: with packets shorter than
    /// 10 ms.
    package var isLowDelay: Bool { packet.samples < 480 }

    /// The durations of one Opus frame (RFC 6716, section 2.1.4).
    package enum PacketDuration: String, Sendable, CaseIterable {
        case ms2Point5 = "2.5"
        case ms5 = "5"
        case ms10 = "10"
        case ms20 = "20"
        case ms40 = "40"
        case ms60 = "60"

        /// The number of samples at 48 kHz.
        package var samples: Int {
            switch self {
            case .ms2Point5: 120
            case .ms5: 240
            case .ms10: 480
            case .ms20: 960
            case .ms40: 1920
            case .ms60: 2880
            }
        }
    }
}
