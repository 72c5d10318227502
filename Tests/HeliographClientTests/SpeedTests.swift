import HeliographClient
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("How fast a relay's bytes come")
struct SpeedTests {
    @Test("is measured by what arrives, one test after the other")
    func measured() async throws {
        try await RunningRelay.run { relay in
            let client = try RelayClient(relay.url(""))
            for _ in 0..<2 {
                let speed = try await client.measureSpeed(for: .milliseconds(500))
                #expect(speed.bytes > 0 && speed.bytes <= 256 << 20 && speed.duration > .zero)
                let bits = Double(speed.bytes) * 8
                #expect(abs(speed.bitrate * (speed.duration / .seconds(1)) - bits) < bits / 1e6)
            }
        }
    }

    @Test("is not measured by two at once, and a caller that leaves delays nobody")
    func alone() async throws {
        try await RunningRelay.run { relay in
            let client = try RelayClient(relay.url(""))
            let idle = try await Self.idle(relay, for: 10)
            #expect(try await Self.isRefused(client))
            try await idle.close()
            _ = try await eventually("another test") { try await Self.isRefused(client) ? nil : true }
        }
    }

    @Test("is measured again soon after a caller that reads nothing")
    func silent() async throws {
        try await RunningRelay.run { relay in
            let client = try RelayClient(relay.url(""))
            let idle = try await Self.idle(relay, for: 0.5)
            _ = try await eventually("another test") { try await Self.isRefused(client) ? nil : true }
            // The relay has ended the connection, which the caller may have noticed.
            try? await idle.close()
        }
    }

    /// Returns a caller that has begun a test and reads no more of its bytes.
    private static func idle(_ relay: RunningRelay, for seconds: Double) async throws -> ByteClient {
        let idle = try await ByteClient(port: relay.ports.http)
        try await idle.send(Array("GET /v1/speedtest?for=\(seconds) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        _ = try await idle.next()
        try await idle.pause()
        return idle
    }

    /// Returns whether another test runs.
    private static func isRefused(_ client: RelayClient) async throws -> Bool {
        do {
            return try await client.measureSpeed(for: .milliseconds(500)).bytes == 0
        } catch {
            guard error.code == "speed_test_running" else { throw error }
            return true
        }
    }

    @Test("is measured for half a second to ten")
    func bounds() async throws {
        try await RunningRelay.run { relay in
            let client = try RelayClient(relay.url(""))
            for time in [Duration.milliseconds(400), .seconds(11)] {
                let error = await #expect(throws: RelayError.self) { _ = try await client.measureSpeed(for: time) }
                #expect(error?.code == "out_of_range")
            }
        }
    }
}
