package import HeliographAPI
package import Media
package import NIOCore

/// Decides what a session's encoder makes of its settings, by what arrives at the viewers that acknowledge pictures.
package struct RatePolicy: Sendable {
    /// The least change that is worth to be told, as a part of the present bitrate: encoders may need a keyframe.
    private static let least = 0.08
    /// The least time between two higher bitrates.
    private static let pause = TimeAmount.milliseconds(500)

    private var ladder = RateLadder()
    private var bitrate: Int?
    private var lastRise: NIODeadline?

    package init() {}

    /// Returns the settings that the encoder should have.
    ///
    /// - Parameters:
    ///   - request: What the session was asked for.
    ///   - allowed: What each viewer that is followed may be sent, bit/s.
    ///   - size: The size of its pictures if nothing is left out; `nil` if it is not known yet.
    package mutating func settings(
        of request: SessionRequest,
        allowed: some Sequence<Double>,
        in size: PictureSize?,
        now: NIODeadline
    ) -> SessionRequest {
        let followed: Double? =
            switch request.adapt {
            case .fixed: nil
            case .followSlowest: allowed.min()
            case .followFastest: allowed.max()
            }
        guard let followed else {
            self = RatePolicy()
            return request
        }
        let wanted = min(max(Int(followed), request.leastBitrate), request.bitrate)
        let present = min(max(bitrate ?? request.bitrate, request.leastBitrate), request.bitrate)
        let difference = Double(wanted - present) / Double(present)
        if difference < -Self.least || wanted == request.leastBitrate && wanted < present {
            bitrate = wanted
        } else if difference > Self.least || wanted == request.bitrate && wanted > present,
            lastRise.map({ now - $0 >= Self.pause }) ?? true
        {
            (bitrate, lastRise) = (wanted, now)
        } else {
            bitrate = present
        }
        return ladder.settings(for: bitrate ?? present, of: request, in: size, now: now)
    }
}
