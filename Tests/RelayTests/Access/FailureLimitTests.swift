import NIOCore
import Relay
import Testing

@Suite("The limit of wrong keys")
struct FailureLimitTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test("lets a burst through, then one in each interval, for each address by itself")
    func burst() {
        var limit = FailureLimit()
        for _ in 0..<FailureLimit.burst {
            let wait = limit.count("a", now: start)
            #expect(wait == nil)
        }
        let wait = limit.count("a", now: start)
        #expect(wait == FailureLimit.interval)
        let other = limit.count("b", now: start)
        #expect(other == nil)
        let early = limit.count("a", now: start + .seconds(5))
        #expect(early == .seconds(1))
        let due = limit.count("a", now: start + FailureLimit.interval)
        #expect(due == nil, "what was refused does not count")
        let next = limit.count("a", now: start + FailureLimit.interval)
        #expect(next == FailureLimit.interval)
        let later = start + .hours(1)
        for _ in 0..<FailureLimit.burst {
            let wait = limit.count("a", now: later)
            #expect(wait == nil, "all is forgiven")
        }
        let again = limit.count("a", now: later)
        #expect(again != nil)
    }

    @Test("tells so many addresses apart, and takes all others for one")
    func bounded() {
        var limit = FailureLimit()
        for number in 0..<FailureLimit.maximumAddresses { _ = limit.count("\(number)", now: start) }
        for number in 0..<FailureLimit.burst {
            let wait = limit.count("new \(number)", now: start)
            #expect(wait == nil)
        }
        let wait = limit.count("newer", now: start)
        #expect(wait != nil)
        let known = limit.count("7", now: start)
        #expect(known == nil)
        let later = limit.count("newest", now: start + .seconds(7))
        #expect(later == nil, "those forgiven make room")
    }

    @Test(
        "a party is an address, or a network of one host",
        arguments: [
            ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3::9", "20:1:d:b8:0:1:0:2"),
            ("2001:db8:1:2::7", "20:1:d:b8:0:1:0:2"), ("::1", "0:0:0:0:0:0:0:0"),
        ]
    )
    func parties(address: String, party: String) throws {
        #expect(PeerAddress.party(of: try SocketAddress(ipAddress: address, port: 7)) == party)
    }
}
