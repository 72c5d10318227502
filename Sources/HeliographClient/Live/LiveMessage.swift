import HeliographAPI
import Media

/// A message of the relay on a session's WebSocket; docs/reference/websocket.md.
package enum LiveMessage: Sendable {
    /// The format of the pictures that follow.
    case format(PictureFormat)
    case unit(MediaUnit)
    case event(LiveEvent)
    /// What places in the pictures that follow mean.
    case size(geometry: UInt32)
    /// The answer to a question for the relay's clock.
    case clock(id: Int, relay: UInt64)
    /// A message of a later release, or a broken one.
    case unknown

    private enum Kind: UInt8 {
        case configuration = 1
        case accessUnit, sound
    }

    /// The longest event, in bytes.
    private static let longestEvent = 64 << 10
    /// The most pictures that a relay may say to have left out at once.
    private static let mostDropped = 1 << 30

    // MARK: Binary messages

    /// Reads a binary message.
    ///
    /// - Parameters:
    ///   - format: The last format; pictures before the first one are ``unknown``.
    ///   - geometry: That of the last ``size(geometry:)``.
    ///   - received: When it came, ns.
    package init(binary bytes: [UInt8], format: PictureFormat?, geometry: UInt32, received: UInt64) {
        let message = bytes.read { (reader: ByteReader) -> LiveMessage? in
            var rest = reader
            guard let kind = rest.u8().flatMap(Kind.init) else { return nil }
            switch kind {
            case .configuration: return Self.configuration(&rest, geometry)
            case .accessUnit: return format.flatMap { Self.picture(&rest, $0, received) }
            case .sound: return Self.sound(&rest, received)
            }
        }
        self = message ?? .unknown
    }

    private static func configuration(_ rest: inout ByteReader, _ geometry: UInt32) -> LiveMessage? {
        guard rest.skip(1), let orientation = rest.u8(), orientation <= 3, rest.skip(1), let width = rest.u32(),
            let height = rest.u32(), let length = rest.u16(), let codec = rest.take(Int(clamping: length)),
            let text = String(validating: codec.bytes, as: UTF8.self)
        else { return nil }
        return .format(
            PictureFormat(
                codec: text,
                width: Int(clamping: width),
                height: Int(clamping: height),
                orientation: Int(clamping: orientation),
                geometry: geometry,
                parameterSets: rest.bytes
            )
        )
    }

    private static func picture(_ rest: inout ByteReader, _ format: PictureFormat, _ received: UInt64) -> LiveMessage? {
        guard let flags = rest.u8().map(UnitFlags.init(rawValue:)), let orientation = rest.u8(), orientation <= 3,
            rest.skip(1), let pts = rest.u64(), let captured = rest.u64(), let encoded = rest.u64(),
            let relayed = rest.u64(), rest.count > 0
        else { return nil }
        var format = format
        format.orientation = Int(clamping: orientation)
        return .unit(
            MediaUnit(
                content: .picture(format),
                pts: Int64(bitPattern: pts),
                isKeyframe: flags.contains(.key),
                isRepeat: flags.contains(.repeat),
                captured: captured,
                encoded: encoded,
                relayed: relayed,
                received: received,
                bytes: rest.bytes
            )
        )
    }

    private static func sound(_ rest: inout ByteReader, _ received: UInt64) -> LiveMessage? {
        guard let flags = rest.u8().map(UnitFlags.init(rawValue:)), let track = rest.u16(), let pts = rest.u64(),
            let captured = rest.u64(), let relayed = rest.u64(), rest.count > 0
        else { return nil }
        return .unit(
            MediaUnit(
                content: .sound(track: track),
                pts: Int64(bitPattern: pts),
                isKeyframe: flags.contains(.key),
                isSilent: flags.contains(.silence),
                isAfterGap: flags.contains(.gap),
                captured: captured,
                relayed: relayed,
                received: received,
                bytes: rest.bytes
            )
        )
    }

    // MARK: Text messages

    /// Reads a text message: an event.
    package init(text bytes: [UInt8]) {
        guard bytes.count <= Self.longestEvent, let json = try? JSONValue(parsing: bytes),
            let type = json["type"]?.string
        else {
            self = .unknown
            return
        }
        self = Self.event(type, json) ?? .event(.other(type: type, json: String(decoding: bytes, as: UTF8.self)))
    }

    /// Returns the message of an event's type; `nil` for a type or fields that this release does not know.
    private static func event(_ type: String, _ json: JSONValue) -> LiveMessage? {
        switch type {
        case "hello": SessionFacts(json).map { .event(.connected($0)) }
        case "tracks": .event(.tracks(json.tracks))
        case "target": .event(.target(EncoderTarget(json)))
        case "feed": json["feed"]?.string.flatMap(LiveEvent.Feed.init).map { .event(.feed($0)) }
        case "size": size(json)
        case "control": .event(.control(Control(json)))
        case "refused": .event(.refused(Refusal(json)))
        case "gamepad": .event(.gamepad(GamepadStatus(json)))
        case "resync": json["dropped"]?.integer.map { .event(.dropped(max(0, min($0, mostDropped)))) }
        case "stats": .event(.statistics(RelayStatistics(json)))
        case "clock": clock(json)
        default: nil
        }
    }

    private static func size(_ json: JSONValue) -> LiveMessage? {
        json["geometry"]?.integer.flatMap(UInt32.init(exactly:)).map { .size(geometry: $0) }
    }

    private static func clock(_ json: JSONValue) -> LiveMessage? {
        guard let id = json["id"]?.integer, let relay = json["relay"]?.integer else { return nil }
        return .clock(id: id, relay: UInt64(clamping: relay))
    }
}

extension SessionFacts {
    fileprivate init?(_ json: JSONValue) {
        guard let session = json["session"]?.integer.flatMap(UInt32.init(exactly:)),
            let device = json["device"]?.string, let codec = json["codec"]?.string,
            let epoch = json["epoch"]?.integer
        else { return nil }
        self.init(
            release: json["release"]?.string ?? "",
            session: session,
            device: device,
            label: json["label"]?.string,
            codec: codec,
            fps: json["fps"]?.integer ?? 0,
            bitrate: json["bitrate"]?.integer ?? 0,
            epoch: UInt64(clamping: epoch),
            tracks: json.tracks
        )
    }
}

extension EncoderTarget {
    fileprivate init(_ json: JSONValue) {
        let adapt = json["adapt"]?.string ?? Adaptation.fixed.rawValue
        self.init(
            adapts: adapt != Adaptation.fixed.rawValue,
            bitrate: json["bitrate"]?.integer ?? 0,
            fps: json["fps"]?.integer ?? 0
        )
    }
}

extension Control {
    fileprivate init(_ json: JSONValue) {
        self.init(
            may: json["may"] == true,
            why: json["why"]?.string,
            isMine: json["mine"] == true,
            controller: json["controller"]?.string,
            hasTouch: json["input"]?["touch"] == true,
            hasMicrophone: json["microphone"] == true,
            speaker: json["speaker"]?.string,
            wasTaken: json["ended"] == "taken"
        )
    }
}

extension Refusal {
    fileprivate init(_ json: JSONValue) {
        self.init(
            reason: json["reason"]?.string ?? "",
            detail: json["detail"]?.string ?? "",
            count: json["count"]?.integer ?? 1
        )
    }
}

extension RelayStatistics {
    fileprivate init(_ json: JSONValue) {
        self.init(
            fps: json["fps"]?.number ?? 0,
            bitrate: json["bitrate"]?.number ?? 0,
            viewers: json["viewers"]?.integer ?? 0,
            pictures: json["pictures"]?.integer ?? 0,
            bytes: json["bytes"]?.integer ?? 0,
            dropped: json["dropped"]?.integer ?? 0
        )
    }
}

extension JSONValue {
    fileprivate var tracks: [Track] {
        guard case .array(let tracks)? = self["tracks"] else { return [] }
        return tracks.compactMap(Track.init)
    }

    var string: String? { if case .string(let value) = self { value } else { nil } }

    var integer: Int? { if case .integer(let value) = self { value } else { nil } }

    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
}
