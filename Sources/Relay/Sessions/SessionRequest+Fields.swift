import Media
import Program
import Wire

extension SessionRequest {
    private static let ports = 1024...65535
    /// The longest label, in characters.
    private static let labelLength = 100
    fileprivate static let encoderLength = 1...64
    fileprivate static let sides = 16...8192
    fileprivate static let areas = 256...67_108_864
    fileprivate static let rates = 1...240
    fileprivate static let bitrates = 50_000...100_000_000
    private static let keyframeIntervals = 0.2...60.0
    private static let stillKeyframeIntervals = 0.2...600.0

    /// Whether it is as one that was read from a body. One that was kept in a file may be anything.
    package var isInRange: Bool {
        let sides = [size.width, size.height].compactMap(\.self)
        guard sides.allSatisfy({ Self.sides.contains($0) && $0.isMultiple(of: 2) }) else { return false }
        if let maxPixels = size.maxPixels, !Self.areas.contains(maxPixels) { return false }
        if let ttl, !ObjectReader.lifetimes.contains(ttl) { return false }
        if let label, label.unicodeScalars.count > Self.labelLength { return false }
        guard port == 0 || Self.ports.contains(port) else { return false }
        guard Self.encoderLength.contains(encoder.count), encoder.isName else { return false }
        guard Self.rates.contains(fps), Self.bitrates.contains(bitrate) else { return false }
        return Self.keyframeIntervals.contains(keyframeInterval)
            && Self.stillKeyframeIntervals.contains(stillKeyframeInterval)
    }

    /// Reads the body of a session's start, except its device.
    package init(_ reader: inout ObjectReader) {
        self.init()
        label = reader.string("label", length: 0...Self.labelLength)
        size.width = reader.side("width")
        size.height = reader.side("height")
        size.maxPixels = reader.maxPixels()
        codec = reader.word("codec", oneOf: "h264 (or avc), h265 (or hevc)", parse: Codec.init(named:)) ?? codec
        encoder = reader.encoder() ?? encoder
        framing = reader.word("framing", oneOf: "annexb or scrcpy", parse: Framing.init(named:)) ?? framing
        fps = reader.fps() ?? fps
        bitrate = reader.bitrate() ?? bitrate
        `repeat` = reader.bool("repeat") ?? `repeat`
        onDemand = reader.onDemand() ?? onDemand
        join = reader.join() ?? join
        keyframeInterval = reader.number("keyframeInterval", in: Self.keyframeIntervals) ?? keyframeInterval
        stillKeyframeInterval =
            reader.number("stillKeyframeInterval", in: Self.stillKeyframeIntervals) ?? stillKeyframeInterval
        ttl = reader.ttl()
        port = reader.integer("port", in: 0...65535) ?? port
        if port != 0, !Self.ports.contains(port) {
            reader.note(.outOfRange, "port", "is \(port); allowed: 0, 1024 to 65535")
        }
        reader.finish()
    }
}

extension SessionChange {
    /// Reads the body of a session's change.
    package init(_ reader: inout ObjectReader) {
        self.init()
        bitrate = reader.bitrate()
        fps = reader.fps()
        width = reader.bound("width") { $0.side("width") }
        height = reader.bound("height") { $0.side("height") }
        maxPixels = reader.bound("maxPixels") { $0.maxPixels() }
        join = reader.join()
        onDemand = reader.onDemand()
        reader.finish()
    }
}

/// The fields that a session's start and change have in common.
extension ObjectReader {
    fileprivate mutating func bitrate() -> Int? { integer("bitrate", in: SessionRequest.bitrates) }

    fileprivate mutating func join() -> Join? {
        word("join", oneOf: "cache or live", parse: Join.init(rawValue:))
    }

    fileprivate mutating func onDemand() -> Bool? { bool("onDemand") }

    fileprivate mutating func fps() -> Int? { integer("fps", in: SessionRequest.rates) }

    /// A picture's width or height, rounded down to an even number: 4:2:0 pictures have even sides.
    fileprivate mutating func side(_ name: String) -> Int? { integer(name, in: SessionRequest.sides).map { $0 & ~1 } }

    fileprivate mutating func maxPixels() -> Int? { integer("maxPixels", in: SessionRequest.areas) }

    /// The name of an encoder, which only the agent can tell from one that there is not.
    fileprivate mutating func encoder() -> String? {
        guard let name = string("encoder", length: SessionRequest.encoderLength) else { return nil }
        guard name.isName else {
            note(
                .unknownValue,
                "encoder",
                "is \"\(name)\"; allowed: \(SessionParameters.automaticEncoder), x264, x265 or the name of an encoder of "
                    + "libavcodec: letters, digits, _ and -"
            )
            return nil
        }
        return name
    }

    /// What becomes of a field that null takes away.
    fileprivate mutating func bound(
        _ name: String,
        _ read: (inout ObjectReader) -> Int?
    ) -> SessionChange.Bound {
        let isNull = takeNull(name)
        let value = read(&self)
        return isNull ? .becomes(nil) : value.map { .becomes($0) } ?? .stays
    }
}
