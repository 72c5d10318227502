/// When a frame was captured, from what its producer says.
package enum CaptureTime {
    /// Stamps older than this are not believed, ns.
    private static let oldest: UInt64 = 1_000_000_000

    /// The producer's stamp where it is plausible, else the time of arrival; monotonic ns.
    ///
    /// - Parameter stamp: nil, 0 and negative values stand for none.
    package static func of(stamp: Int64?, arrival: UInt64) -> UInt64 {
        guard let stamp, stamp > 0, UInt64(stamp) <= arrival, arrival - UInt64(stamp) < oldest else { return arrival }
        return UInt64(stamp)
    }
}
