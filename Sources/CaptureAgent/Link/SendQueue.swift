package import Media
package import Wire

/// The packets that wait to be sent to the relay. Control packets are never dropped; access units are limited per
/// session.
///
/// A session that exceeds the limit loses all its waiting access units and everything up to its next keyframe. A viewer
/// that late needs a fresh picture more than the old ones.
package struct SendQueue: Sendable {
    private struct Entry: Sendable {
        let bytes: [UInt8]
        /// The session and PTS of an access unit; `nil` for control packets.
        let media: (session: SessionID, pts: Int64)?
    }

    /// How much media may wait for one session, in µs.
    private let maximumMedia: Int64
    private var entries: [Entry] = []
    /// The rest of a partly written packet. It is sent first.
    private var rest: [UInt8] = []
    private var waitingForKeyframe: Set<SessionID> = []

    /// The size of everything that waits, in bytes.
    package private(set) var byteCount = 0
    package private(set) var drops: [SessionID: UInt64] = [:]

    /// - Parameter maximumMedia: How much media may wait for one session, in ms.
    package init(maximumMedia: Int) {
        self.maximumMedia = Int64(maximumMedia) * 1000
    }

    package var isEmpty: Bool { entries.isEmpty && rest.isEmpty }

    /// Appends a control packet's bytes.
    package mutating func append(control bytes: [UInt8]) { append(Entry(bytes: bytes, media: nil)) }

    /// Returns whether an access unit may bypass the queue because nothing waits. An access unit that may not can be
    /// dropped.
    package mutating func lets(_ accessUnit: AccessUnit, of session: SessionID) -> Bool {
        guard isEmpty, accessUnit.bytes.count <= AccessUnit.maximumByteCount else { return false }
        if waitingForKeyframe.isEmpty { return true }
        if accessUnit.isKey { waitingForKeyframe.remove(session) }
        return !waitingForKeyframe.contains(session)
    }

    /// Appends an access unit.
    ///
    /// - Returns: `false` if the session lost pictures and needs a keyframe.
    package mutating func append(_ accessUnit: AccessUnit, session: SessionID) -> Bool {
        // The relay would close the link, for all sessions, if it received such a packet.
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

    /// Puts back the unwritten rest of a packet that bypassed the queue. The queue holds only packets that came after
    /// it.
    package mutating func putBack(_ rest: [UInt8]) {
        self.rest = rest
        byteCount += rest.count
    }

    /// Removes and returns everything that waits, in order.
    package mutating func takeAll() -> [[UInt8]] {
        defer {
            rest = []
            entries.removeAll(keepingCapacity: true)
            byteCount = 0
        }
        return (rest.isEmpty ? [] : [rest]) + entries.map(\.bytes)
    }

    /// Drops the waiting access units of a session that was removed, and forgets the session.
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
