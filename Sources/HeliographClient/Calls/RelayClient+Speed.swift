import HeliographAPI
import NIOCore

/// How fast bytes come from a relay.
public struct Speed: Sendable, Hashable {
    /// Bytes after the first arrival.
    public let bytes: Int
    /// From the first arrival to the last one.
    public let duration: Duration

    package init(bytes: Int, duration: Duration) { (self.bytes, self.duration) = (bytes, duration) }

    /// Bits per second; 0 if nothing was measured.
    public var bitrate: Double { duration > .zero ? Double(bytes) * 8 / duration.seconds : 0 }
}

extension RelayClient {
    /// How much longer than asked for a test may take.
    private static let testGrace = Duration.seconds(20)

    /// Measures how fast bytes come from the relay, on a connection of its own.
    ///
    ///     let speed = try await relay.measureSpeed()
    ///     print("\(Int(speed.bitrate * 0.7)) bit/s leave room")
    ///
    /// Sessions that are watched meanwhile lose some of theirs. The relay sends 256 MiB at most.
    ///
    /// - Parameter time: How long the relay sends, 0.5 to 10 s.
    /// - Throws: ``RelayError``; the code is `speed_test_running` while another test runs.
    public func measureSpeed(for time: Duration = .seconds(2)) async throws(RelayError) -> Speed {
        let stream = try await stream(
            Routes.testSpeed,
            SpeedTestQuery(for: time.seconds),
            timeout: time + Self.testGrace,
            "broke the speed test off"
        )
        var (bytes, first, last) = (0, ContinuousClock.Instant?.none, ContinuousClock.now)
        for try await part in stream.body {
            last = .now
            // How long the first ones took is not known.
            if first == nil { first = last } else { bytes += part.readableBytes }
        }
        return Speed(bytes: bytes, duration: first.map { last - $0 } ?? .zero)
    }
}
