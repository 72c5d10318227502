package import Media
package import NIOCore
package import Wire

/// The last two heartbeats of an agent, and the per-second rates between them.
package struct HeartbeatHistory: Sendable {
    /// The last heartbeat, with all sessions.
    package private(set) var latest: Heartbeat?
    package private(set) var received: NIODeadline?
    private var previous: Heartbeat?
    private var told = HeartbeatDelta()
    /// Each session's index in the two heartbeats.
    private var places: (latest: [SessionID: Int], previous: [SessionID: Int]) = ([:], [:])

    package init() {}

    /// Adds a heartbeat.
    ///
    /// - Parameter tally: Returns what the relay has made for a session in place of the agent.
    package mutating func add(_ heartbeat: Heartbeat, now: NIODeadline, tally: (SessionID) -> RestTally? = { _ in nil })
    {
        var heartbeat = told.completed(heartbeat)
        for place in heartbeat.sessions.indices {
            guard let tally = heartbeat.sessions[at: place].flatMap({ tally($0.session) }) else { continue }
            heartbeat.sessions[at: place]?.counters.add(tally)
        }
        // The agent's value may be anything, even negative.
        heartbeat.linkQueuedBytes = max(0, heartbeat.linkQueuedBytes)
        let numbered = heartbeat.sessions.enumerated().map { ($1.session, $0) }
        places = (Dictionary(numbered) { $1 }, places.latest)
        previous = latest
        latest = heartbeat
        received = now
    }

    /// Frames per second that the source delivered between the last two heartbeats.
    package var framesReceivedPerSecond: Double? {
        guard let (previous, latest, seconds) = interval else { return nil }
        return Double(difference(latest.framesReceived, previous.framesReceived)) / seconds
    }

    package func figures(of session: SessionID) -> SessionFigures? {
        places.latest[session].flatMap { latest?.sessions[at: $0] }
    }

    /// Returns the session's rates between the last two heartbeats; `nil` unless both have it.
    package func rates(of session: SessionID) -> SessionRates? {
        guard let (previous, _, seconds) = interval, let place = places.previous[session],
            let before = previous.sessions[at: place]?.counters, let after = figures(of: session)?.counters
        else { return nil }
        let pictures = difference(after.pictures, before.pictures)
        let encoded = difference(after.encoded, before.encoded)
        let encodeTime = Double(difference(after.encodeTimes.sum, before.encodeTimes.sum)) / 1e6
        return SessionRates(
            encodedLive: Double(difference(after.encodedLive, before.encodedLive)) / seconds,
            repeats: Double(difference(after.repeats, before.repeats)) / seconds,
            pictures: Double(pictures) / seconds,
            bitrate: 8 * Double(difference(after.bytes, before.bytes)) / seconds,
            encodeMilliseconds: encoded == 0 ? nil : encodeTime / Double(encoded)
        )
    }

    private var interval: (previous: Heartbeat, latest: Heartbeat, seconds: Double)? {
        guard let previous, let latest, latest.clock > previous.clock else { return nil }
        return (previous, latest, Double(difference(latest.clock, previous.clock)) / 1e9)
    }

    /// Returns the increase of an agent's counter, or 0 if it shrank: a wrong counter must not trap the relay.
    private func difference(_ later: UInt64, _ earlier: UInt64) -> UInt64 { later - min(later, earlier) }
}

/// What one session did between two heartbeats.
package struct SessionRates: Sendable, Equatable {
    /// Frames encoded per second.
    package var encodedLive: Double
    /// Repeats per second.
    package var repeats: Double
    /// Pictures per second, live and repeats.
    package var pictures: Double
    /// bit/s.
    package var bitrate: Double
    /// Mean time of scaling and encoding one picture, ms; `nil` if there was none.
    package var encodeMilliseconds: Double?

    package init(
        encodedLive: Double,
        repeats: Double,
        pictures: Double,
        bitrate: Double,
        encodeMilliseconds: Double?
    ) {
        self.encodedLive = encodedLive
        self.repeats = repeats
        self.pictures = pictures
        self.bitrate = bitrate
        self.encodeMilliseconds = encodeMilliseconds
    }
}
