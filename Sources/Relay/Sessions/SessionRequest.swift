package import Media
import Wire

/// What a session was asked to be, checked and with its defaults filled in.
package struct SessionRequest: Sendable, Equatable, Codable {
    package var label: String?
    /// Width and height even.
    package var size = RequestedSize()
    package var codec = Codec.h264
    /// An encoder's name, or `auto`.
    package var encoder = SessionParameters.automaticEncoder
    package var framing = Framing.annexB
    /// Pictures per second, 1 to 240.
    package var fps = 30
    /// bit/s.
    package var bitrate = 6_000_000
    package var `repeat` = true
    /// Whether it is encoded only while somebody watches.
    package var onDemand = false
    /// Where viewers begin who do not say.
    package var join = Join.cache
    /// Longest time between keyframes, s.
    package var keyframeInterval = 2.0
    /// The same while the screen stands still, s.
    package var stillKeyframeInterval = 10.0
    /// TCP port, 0 for the first free one.
    package var port = 0
    /// Seconds without a viewer or a call after which the session ends itself; nil for never.
    package var ttl: Int?

    package init() {}
}
