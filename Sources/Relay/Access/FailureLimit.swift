package import NIOCore

/// How often an address may show wrong keys. Right ones are never held up: others may be behind the same address.
///
/// The generic cell rate algorithm (ITU-T I.371, annex A): one instant for each address.
package struct FailureLimit: Sendable {
    /// So many at once, and then one in each interval.
    package static let burst = 10
    package static let interval = TimeAmount.seconds(6)
    /// Addresses that are told apart. Beyond them all others count as one.
    package static let maximumAddresses = 4096

    /// When an address that shows none any more has all its tries again.
    private var forgiven: [String: NIODeadline] = [:]

    package init() {}

    /// Counts a failure.
    ///
    /// - Returns: Nil where it is within the limit, else how long until the next one would be.
    package mutating func count(_ address: String, now: NIODeadline) -> TimeAmount? {
        var address = address
        if forgiven[address] == nil, forgiven.count >= Self.maximumAddresses {
            forgiven = forgiven.filter { $0.value > now }
            if forgiven.count >= Self.maximumAddresses { address = "" }
        }
        let next = max(forgiven[address] ?? now, now) + Self.interval
        let excess = next - now - .nanoseconds(Self.interval.nanoseconds * Int64(Self.burst))
        guard excess <= .zero else { return excess }
        forgiven[address] = next
        return nil
    }
}
