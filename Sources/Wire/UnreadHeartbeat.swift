import FoundationEssentials

/// A HEARTBEAT whose body has not been read: with hundreds of sessions that takes longer than pictures may wait.
package struct UnreadHeartbeat: Sendable, Equatable {
    let body: Data

    init(body: Data) { self.body = body }

    package func read() throws(WireError) -> Heartbeat {
        do {
            return try JSONDecoder().decode(Heartbeat.self, from: body)
        } catch {
            throw .malformedBody(type: .heartbeat, reason: "\(error)")
        }
    }
}
