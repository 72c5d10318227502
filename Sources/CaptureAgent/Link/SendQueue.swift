package import Media
package import Wire

/// What waits to be sent to the relay: control packets, which are never dropped, and access units, at most so much media a session.
///
/// A session that gets further behind loses all its waiting access units and everything up to its next keyframe: a viewer
/// that far behind is served better by a fresh picture than by every old one.
package struct SendQueue: Sendable {
    private struct Entry: Sendable {
        let bytes: [UInt8]
        /// Nil for control packets.
        let media: (session: SessionID, pts: Int64)?
    }

    /// µs of media that may wait for one session.
    private let maximumMedia: Int64
    private var entries: [Entry] = []
    /// What is left of a packet that is half written. Leaves first.
    private var rest: [UInt8] = []
    private var waitingForKeyframe: Set<SessionID> = []

    /// Everything that waits, in bytes.
    package private(set) var byteCount = 0
    package private(set) var drops: [SessionID: UInt64] = [:]

    /// - Parameter maximumMedia: ms.
    package init(maximumMedia: Int) {
        self.maximumMedia = Int64(maximumMedia) * 1000
    }

    package var isEmpty: Bool { entries.isEmpty && rest.isEmpty }

    /// Appends a control packet's bytes.
    package mutating func append(control bytes: [UInt8]) { append(Entry(bytes: bytes, media: nil)) }

    /// Whether an access unit may pass the queue because nothing waits in it; what does not may have to be dropped.
    package mutating func lets(_ accessUnit: AccessUnit, of session: SessionID) -> Bool {
        guard isEmpty, accessUnit.bytes.count <= AccessUnit.maximumByteCount else { return false }
        if waitingForKeyframe.isEmpty { return true }
        if accessUnit.isKey { waitingForKeyframe.remove(session) }
        return !waitingForKeyframe.contains(session)
    }

    /// Appends an access unit. Returns false when the session lost pictures and needs a keyframe.
    package mutating func append(_ accessUnit: AccessUnit, session: SessionID) -> Bool {
        // The relay would end the link, for all sessions.
        guard accessUnit.bytes.count <= AccessUnit.maximumByteCount else {
            drops[session, default: 0] += 1
            waitingForKeyframe.insert(session)
            return false
        }
        if accessUnit.isKey {
            waitingForKeyframe.remove(session)
        } else if waitingForKeyframe.contains(session) {
            drops[session, default: 0] += 1
            return true
        }
        let oldest = entries.first { $0.media?.session == session }?.media?.pts
        if let oldest, accessUnit.pts - oldest > maximumMedia {
            dropMedia(of: session)
            if !accessUnit.isKey {
                drops[session, default: 0] += 1
                waitingForKeyframe.insert(session)
                return false
            }
        }
        append(Entry(bytes: Packet.accessUnit(session, accessUnit).encoded(), media: (session, accessUnit.pts)))
        return true
    }

    /// Puts back what could not be written of a packet that was let pass. The queue is empty or has what came meanwhile.
    package mutating func putBack(_ rest: [UInt8]) {
        self.rest = rest
        byteCount += rest.count
    }

    /// Takes everything that waits, in order.
    package mutating func takeAll() -> [[UInt8]] {
        defer {
            rest = []
            entries.removeAll(keepingCapacity: true)
            byteCount = 0
        }
        return (rest.isEmpty ? [] : [rest]) + entries.map(\.bytes)
    }

    /// Drops what waits of a session that was removed, and forgets it.
    package mutating func forget(_ session: SessionID) {
        dropMedia(of: session)
        drops[session] = nil
        waitingForKeyframe.remove(session)
    }

    private mutating func append(_ entry: Entry) {
        entries.append(entry)
        byteCount += entry.bytes.count
    }

    private mutating func dropMedia(of session: SessionID) {
        let before = entries.count
        entries.removeAll { $0.media?.session == session }
        drops[session, default: 0] += UInt64(before - entries.count)
        byteCount = entries.reduce(rest.count) { $0 + $1.bytes.count }
    }
}
