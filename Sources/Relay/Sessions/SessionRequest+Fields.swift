import Media

extension SessionRequest {
    private static let sides = 16...8192
    private static let ports = 1024...65535
    /// The longest label, in characters.
    private static let labelLength = 100

    /// Reads the body of a session's start, except its device.
    package init(_ reader: inout ObjectReader) {
        self.init()
        label = reader.string("label", length: 0...Self.labelLength)
        // 4:2:0 pictures have even sides.
        size.width = reader.integer("width", in: Self.sides).map { $0 & ~1 }
        size.height = reader.integer("height", in: Self.sides).map { $0 & ~1 }
        size.maxPixels = reader.integer("maxPixels", in: 256...67_108_864)
        codec = reader.word("codec", oneOf: "h264 (or avc)", parse: Codec.init(named:)) ?? codec
        if codec != .h264 { reader.note(.unavailable, "codec", "is \(codec.rawValue); this release encodes h264 only") }
        framing = reader.word("framing", oneOf: "annexb or scrcpy", parse: Framing.init(named:)) ?? framing
        fps = reader.integer("fps", in: 1...240) ?? fps
        bitrate = reader.integer("bitrate", in: 50_000...100_000_000) ?? bitrate
        `repeat` = reader.bool("repeat") ?? `repeat`
        keyframeInterval = reader.number("keyframeInterval", in: 0.2...60) ?? keyframeInterval
        ttl = reader.integer("ttl", in: 1...86_400)
        port = reader.integer("port", in: 0...65535) ?? port
        if port != 0, !Self.ports.contains(port) {
            reader.note(.outOfRange, "port", "is \(port); allowed: 0, 1024 to 65535")
        }
        reader.finish()
    }
}
