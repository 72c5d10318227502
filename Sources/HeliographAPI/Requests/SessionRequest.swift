package import Media
import Program

/// The requested settings of a session: the body of POST /screencapture/start without its device.
package struct SessionRequest: APIModel, Equatable {
    /// The bitrates that a session may have, bit/s.
    package static let bitrates = 50_000...100_000_000

    package var label: String?
    /// The width, an even number; `nil` for the source's.
    package var width: Int?
    /// The height, an even number; `nil` for the source's.
    package var height: Int?
    package var maxPixels: Int?
    package var codec = Codec.h264
    package var chroma = ChromaSampling.quarter
    package var encoder = Self.automaticEncoder
    package var framing = Framing.annexB
    package var bitrate = 6_000_000
    package var fps = 30
    package var adapt = Adaptation.fixed
    package var minBitrate: Int?
    package var `repeat` = true
    package var onDemand = false
    package var record = false
    package var recordWhen = RecordWhen.always
    package var join = Join.cache
    package var keyframeInterval = 2.0
    package var staticKeyframeInterval = 10.0
    package var port = 0
    package var ttl: Int?

    package init() {}

    /// Leaves the choice of the encoder to the agent.
    package static let automaticEncoder = "auto"

    /// The least bit/s that ``adapt`` leaves.
    package var leastBitrate: Int { min(minBitrate ?? Self.leastAdaptedBitrate, bitrate) }

    /// ``minBitrate`` if it is not given.
    package static let leastAdaptedBitrate = 150_000

    /// The limits on the picture's size.
    package var size: RequestedSize {
        get { RequestedSize(width: width, height: height, maxPixels: maxPixels) }
        set { (width, height, maxPixels) = (newValue.width, newValue.height, newValue.maxPixels) }
    }

    package static let schema = Schema.request(
        nil,
        [
            Field("label", .string(0...100), "For people."),
            Field("width", .side), Field("height", .side), Field("maxPixels", .maxPixels),
            Field(
                "codec",
                .words(
                    Codec.self,
                    aliases: [("avc", .h264), ("hevc", .h265)],
                    ignoringCase: true,
                    allowed: "h264 (or avc), h265 (or hevc)"
                ).default("h264"),
                "In any letter case."
            ),
            Field(
                "chroma",
                .words(
                    ChromaSampling.self,
                    aliases: [("4:2:0", .quarter), ("4:4:4", .full)],
                    allowed: "420 (or 4:2:0), 444 (or 4:4:4)"
                ).default("420"),
                """
                Whether four pixels share a colour (`420`), which every player plays, or each has its own (`444`), which \
                keeps coloured text sharp.
                """
            ),
            Field(
                "encoder",
                Schema(.pattern(.encoder)).default("auto"),
                """
                `auto`: hardware that works, else software; `x264`; `x265`; or a libavcodec encoder's name. If the agent \
                cannot use it, the session's `error` says so.
                """
            ),
            Field(
                "framing",
                .words(
                    Framing.self,
                    aliases: [
                        ("annex-b", .annexB), ("raw", .annexB), ("packet", .scrcpy), ("packetized", .scrcpy),
                    ],
                    ignoringCase: true
                ).default("annexb"),
                "Of the session's TCP port, in any letter case."
            ),
            Field("bitrate", .bitrate), Field("fps", .fps),
            Field("adapt", .adaptation), Field("minBitrate", .minBitrate),
            Field(
                "repeat",
                .bool.default(true),
                "Whether the last picture repeats while the screen is static, so that pictures keep coming at `fps`."
            ),
            Field("onDemand", .onDemand), Field("record", .record),
            Field("recordWhen", .recordWhen), Field("join", .join),
            Field("keyframeInterval", .number(0.2...60).default(2), "Longest time between keyframes, s."),
            Field(
                "staticKeyframeInterval",
                .number(0.2...600).default(10),
                "The same while the screen is static, s; at least `keyframeInterval`."
            ),
            Field(
                "port",
                .integer(0...0, 1024...65535).default(0),
                "TCP port on the address of the API; 0 for the first free one from 9200 on."
            ),
            Field(
                "ttl",
                .lifetime,
                "Seconds without a viewer or a call about it after which the session ends itself. Default: never."
            ),
        ]
    )

    /// Whether all values are in range. A request from a call always is; one from a file may hold anything.
    package var isInRange: Bool {
        guard let members = try? JSONValue(encoding: self), case .object(let fields) = members else { return false }
        let present = fields.filter { $0.value != .null }
        return (try? SessionRequest(reading: present)) == self
    }
}

/// The start of a session: its device and its requested settings.
package struct SessionStart: APIModel {
    package var device: String?
    package var session = SessionRequest()

    package init() {}

    package static let schema = Schema.request(
        "SessionStart",
        [[Field("device", .device)], SessionRequest.schema.fields].flatMap(\.self)
    )

    private enum CodingKeys: CodingKey { case device }

    package init(from decoder: any Decoder) throws {
        device = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .device)
        session = try SessionRequest(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(device, forKey: .device)
        try session.encode(to: encoder)
    }
}

/// The filter of a session list: the query of GET /v1/sessions.
package struct SessionListQuery: APIModel {
    package var device: String?
    package var name: String?
    package var label: String?
    package var state: String?
    package var brief = false

    package init() {}

    package static let schema = Schema.request(
        nil,
        [
            Field("device", .string(0...100), "Only sessions of this device."),
            Field("name", .string(0...100), "Only sessions of this name."),
            Field("label", .string(0...100), "Only sessions with this label."),
            Field("state", .sessionState, "Only sessions in this state."),
            Field("brief", .bool.default(false), "Whether the list leaves out figures and settings."),
        ]
    )
}

/// The sessions to end: the arguments of POST /v1/sessions/stop.
package struct SessionsStop: APIModel {
    package var device: String?
    package var all: Bool?

    package init() {}

    package static let schema = Schema.request(
        "SessionsStop",
        [
            Field("device", .device, "The device whose sessions end."),
            Field("all", .bool, "Whether those of all devices end, if no `device` is named."),
        ]
    )
}

/// How a session's TCP port delimits pictures.
package enum Framing: String, Sendable, CaseIterable, Codable {
    /// The bare Annex B byte stream, which every player reads.
    case annexB = "annexb"
    /// A 12-byte header before each packet, as on scrcpy's video socket.
    case scrcpy
}

/// The picture at which a new viewer begins.
package enum Join: String, Sendable, CaseIterable, Codable {
    /// The last keyframe if it is recent, with all pictures since; otherwise as ``live``.
    case cache
    /// The next keyframe, which the relay requests. The viewer gets no old pictures.
    case live
}

/// Which of its viewers a session's bitrate follows.
package enum Adaptation: String, Sendable, CaseIterable, Codable {
    case fixed
    case followSlowest
    case followFastest
}

/// When a session that is recorded is written.
package enum RecordWhen: String, Sendable, CaseIterable, Codable {
    case always
    /// While a viewer watches, and 10 s longer.
    case watched
    /// While the screen changes, and 10 s longer. A file begins with the last keyframe before the change.
    case changed
}

// Synthesized conformances prefer these methods. The state of a relay that did not know a setting lacks it.
extension KeyedDecodingContainer {
    package func decode(_: RecordWhen.Type, forKey key: Key) throws -> RecordWhen {
        try decodeIfPresent(RecordWhen.self, forKey: key) ?? .always
    }

    package func decode(_: Adaptation.Type, forKey key: Key) throws -> Adaptation {
        try decodeIfPresent(Adaptation.self, forKey: key) ?? .fixed
    }

    package func decode(_: ChromaSampling.Type, forKey key: Key) throws -> ChromaSampling {
        try decodeIfPresent(ChromaSampling.self, forKey: key) ?? .quarter
    }
}

extension Schema.Pattern {
    /// The name of an encoder. Only the agent knows which ones exist.
    fileprivate static let encoder = Self(
        length: 1...64,
        expression: "^[A-Za-z0-9_-]+$",
        allowed: "auto, x264, x265 or the name of an encoder of libavcodec: letters, digits, _ and -",
        matches: \.isName
    )
}

/// Fields that several requests share.
extension Schema {
    package static let device = Schema(
        .string(length: 0...100),
        named: "DeviceName",
        "A device's name. Default: `default`, or the only device if none has that name."
    )
    /// The name of a session, a key or the like.
    package static let shortName = Schema(
        .pattern(
            Pattern(
                length: 1...64,
                expression: "^[A-Za-z0-9_-]+$",
                allowed: String.nameRule,
                matches: \.isName
            )
        )
    )
    static let side = Schema(
        .even(16...8192),
        named: "Side",
        """
        Pixels, rounded down to even. With one side given, the other keeps the aspect ratio. Default: the source's.
        """
    )
    static let maxPixels = Schema(
        .integer([256...67_108_864]),
        named: "MaxPixels",
        "Bound of width times height; the aspect ratio is kept."
    )
    static let bitrate = Schema(.integer([SessionRequest.bitrates]), named: "Bitrate", "bit/s.", default: 6_000_000)
    static let fps = Schema(.integer([1...240]), named: "FPS", "Pictures per second.", default: 30)
    static let adaptation = Schema(
        Schema.words(Adaptation.self).form,
        named: "Adaptation",
        """
        Whether the bitrate is `fixed`, or follows what the connections of viewers carry: that of the slowest \
        (`followSlowest`) or of the fastest (`followFastest`; viewers that get less than half share another session of \
        smaller pictures). `bitrate` is then the most; where little is left, there are fewer pictures per second, then \
        smaller ones.
        """,
        default: "fixed"
    )
    static let minBitrate = Schema(
        .integer([SessionRequest.bitrates]),
        named: "MinBitrate",
        "The least bit/s that `adapt` leaves; more than `bitrate` counts as `bitrate`. Default: 150000."
    )
    static let record = Schema(
        .bool,
        named: "Record",
        "Whether the session is recorded into the library.",
        default: false
    )
    static let recordWhen = Schema(
        Schema.words(RecordWhen.self).form,
        named: "RecordWhen",
        """
        When a session with `record` is written: `always`; while it is `watched`; or while its screen has `changed`, from \
        the last keyframe before the change. Both end 10 s later, and the next time begins another file.
        """,
        default: "always"
    )
    static let onDemand = Schema(
        .bool,
        named: "OnDemand",
        "Whether to encode only while a viewer, a wait or a snapshot needs the session, and 5 s longer.",
        default: false
    )
    static let join = Schema(
        Schema.words(Join.self).form,
        named: "Join",
        "Where viewers begin by default: at the last keyframe if that is recent (`cache`), or at the next one (`live`).",
        default: "cache"
    )
    /// The schema of a time without use, s.
    static let lifetime = Schema.integer(1...86_400)
}
