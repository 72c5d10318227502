package import Media

/// Whether one encoder works on the agent's machine.
package struct EncoderReport: Sendable, Equatable, Codable {
    /// The encoder's name in session parameters, for example `x264` or `h264_vaapi`.
    package var name: String
    package var codec: Codec
    package var available: Bool
    /// Why it is not available, for people; `nil` if it is.
    package var reason: String?

    package init(name: String, codec: Codec, available: Bool, reason: String? = nil) {
        self.name = name
        self.codec = codec
        self.available = available
        self.reason = reason
    }
}

/// The encoders that the agent has tried.
package struct EncoderReports: Sendable, Equatable, Codable {
    package var encoders: [EncoderReport]

    package init(encoders: [EncoderReport]) { self.encoders = encoders }
}
