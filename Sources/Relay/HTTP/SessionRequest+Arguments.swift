import Media

extension SessionRequest {
    private static let sides = 16...8192
    private static let ports = 1024...65535
    /// The longest label, in characters.
    private static let labelLength = 100

    /// Reads the body of a session's start.
    package init(_ arguments: inout RequestArguments) throws(Problem) {
        self.init(device: try arguments.device())
        label = try arguments.string("label", maximumLength: Self.labelLength)
        // 4:2:0 pictures have even sides.
        size.width = try arguments.integer("width", in: Self.sides).map { $0 & ~1 }
        size.height = try arguments.integer("height", in: Self.sides).map { $0 & ~1 }
        size.maxPixels = try arguments.integer("maxPixels", in: 256...67_108_864)
        codec = try arguments.word("codec", oneOf: "h264 (or avc)", parse: Codec.init(named:)) ?? codec
        guard codec == .h264 else {
            throw Problem(.codecUnavailable, "this release encodes h264 only", field: "codec")
        }
        framing = try arguments.word("framing", oneOf: "annexb or scrcpy", parse: Framing.init(named:)) ?? framing
        fps = try arguments.integer("fps", in: 1...240) ?? fps
        bitrate = try arguments.integer("bitrate", in: 50_000...100_000_000) ?? bitrate
        `repeat` = try arguments.bool("repeat") ?? `repeat`
        keyframeInterval = try arguments.number("keyframeInterval", in: 0.2...60) ?? keyframeInterval
        ttl = try arguments.integer("ttl", in: 1...86_400)
        port = try arguments.integer("port", in: 0...65535) ?? port
        guard port == 0 || Self.ports.contains(port) else {
            throw Problem(.outOfRange, "port is \(port); allowed: 0, 1024 to 65535", field: "port")
        }
        try arguments.finish()
    }
}

extension RequestArguments {
    /// The device that a call is about.
    mutating func device() throws(Problem) -> String {
        try string("device", maximumLength: 100) ?? "default"
    }
}
