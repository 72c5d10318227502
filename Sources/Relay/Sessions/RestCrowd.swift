package import Wire

/// The sessions of all devices that rest and are watched. Those of one device are in step with the same source, and their slots come at once: spread out,
/// the last one's picture is not too late.
package struct RestCrowd: Sendable {
    /// What a picture takes at most until the next one can be made, ns: 30 µs as measured, and a third of that again.
    private static let cost: UInt64 = 40_000
    /// How much earlier all are for each of them, ns, so that what else the relay does makes none of them too late.
    private static let reserve: UInt64 = 25_000
    /// The golden ratio's fraction, of 2^16: its multiples fill an interval evenly, however many there are.
    private static let ratio: UInt64 = 40_503
    /// How long pictures may wait for others of about the same time, for each session and at most, ns: a wake costs as much as a picture.
    private static let (shareOfRoom, mostRoom) = (5_000 as UInt64, 1_000_000 as UInt64)

    package var count: UInt64 = 0

    package init() {}

    /// How much later a session may make its pictures, ns, together with others.
    package var room: UInt64 { count > 1 ? min(count * Self.shareOfRoom, Self.mostRoom) : 0 }

    /// How much earlier a session makes its pictures than it would alone, ns.
    ///
    /// - Parameter most: What it can be at most, ns.
    package func lead(of session: SessionID, most: UInt64) -> UInt64 {
        guard count > 1 else { return 0 }
        let greatest = min(count * (Self.reserve + Self.cost), most)
        let least = greatest * Self.reserve / (Self.reserve + Self.cost)
        return least + Self.part(of: session, in: greatest - least)
    }

    /// How much earlier than its interval a session sends its first keyframe, ns. Those that came to rest at one moment send theirs apart from then on:
    /// 400 at once would hold up all pictures for 100 ms.
    package static func keyframeLead(of session: SessionID, interval: UInt64) -> UInt64 {
        part(of: session, in: interval / 2)
    }

    private static func part(of session: SessionID, in range: UInt64) -> UInt64 {
        range * (UInt64(clamping: session) * ratio % 65_536) / 65_536
    }
}
