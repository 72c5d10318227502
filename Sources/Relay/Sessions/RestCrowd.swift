package import Wire

/// The watched sessions of all devices that rest.
///
/// The slots of one device's sessions coincide because they follow the same source. Spreading the sessions out keeps
/// the last one's picture from being late.
package struct RestCrowd: Sendable {
    /// The most time that one picture takes before the next can be made, ns: 30 µs as measured, plus a third.
    private static let cost: UInt64 = 40_000
    /// How much earlier all sessions are for each session in the crowd, ns. It absorbs the relay's other work.
    private static let reserve: UInt64 = 25_000
    /// The golden ratio's fraction, times 2^16. Its multiples spread evenly over an interval, whatever their number.
    private static let ratio: UInt64 = 40_503
    /// How long pictures may wait for others that are due at about the same time, in ns: per session, and at most.
    /// Waking up costs as much as a picture.
    private static let (shareOfRoom, mostRoom) = (5_000 as UInt64, 1_000_000 as UInt64)

    package var count: UInt64 = 0

    package init() {}

    /// How much later a session may make its pictures to share a wake with others, ns.
    package var room: UInt64 { count > 1 ? min(count * Self.shareOfRoom, Self.mostRoom) : 0 }

    /// Returns how much earlier a session makes its pictures than it would alone, ns.
    ///
    /// - Parameter most: The greatest lead that the session allows, ns.
    package func lead(of session: SessionID, most: UInt64) -> UInt64 {
        guard count > 1 else { return 0 }
        let greatest = min(count * (Self.reserve + Self.cost), most)
        let least = greatest * Self.reserve / (Self.reserve + Self.cost)
        return least + Self.part(of: session, in: greatest - least)
    }

    /// Returns how much earlier than its interval a session sends its first keyframe, ns.
    ///
    /// Sessions that came to rest together send their keyframes apart from then on: 400 at once would delay all
    /// pictures for 100 ms.
    package static func keyframeLead(of session: SessionID, interval: UInt64) -> UInt64 {
        part(of: session, in: interval / 2)
    }

    /// Returns a session's share of `range`, so that the sessions' shares are evenly spread.
    private static func part(of session: SessionID, in range: UInt64) -> UInt64 {
        range * (UInt64(clamping: session) * ratio % 65_536) / 65_536
    }
}
