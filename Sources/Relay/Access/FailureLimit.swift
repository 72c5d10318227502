package import NIOCore

/// The limit on wrong keys from one address. Valid keys are never delayed, because several callers may share the
/// address.
///
/// The generic cell rate algorithm (ITU-T I.371, annex A): one instant for each address.
package struct FailureLimit: Sendable {
    /// How many failures are allowed at once; after that, one per interval.
    package static let burst = 10
    package static let interval = TimeAmount.seconds(6)
    /// Most addresses that are tracked separately. All others count as one.
    package static let maximumAddresses = 4096

    /// When an address without further failures has all its tries again.
    private var forgiven: [String: NIODeadline] = [:]

    package init() {}

    /// Counts a failure.
    ///
    /// - Returns: `nil` if it is within the limit; if not, how long until the next failure would be.
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
