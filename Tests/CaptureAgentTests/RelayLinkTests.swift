import CaptureAgent
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("An agent's link")
struct RelayLinkTests {
    private static let hello = Hello(token: "secret", device: "default", source: "node", pid: 1, release: "test")
    /// The shortest heartbeat interval, in ms.
    private static let heartbeatInterval = 10

    /// Returns a link to the relay that `server` simulates.
    private static func link(to server: LinkServer) throws -> RelayLink {
        let (stop, port) = (try Event(), server.port)
        let linked = LinkBox()
        let thread = try WorkerThread(name: "agent") {
            var decoder = PacketDecoder(accepting: .relayToAgent)
            let link = try? RelayLink(
                host: "127.0.0.1",
                port: port,
                hello: hello,
                timeout: 30_000_000_000,
                stop: stop,
                decoder: &decoder
            )
            linked.link.withLock { $0 = link }
        }
        do {
            defer { thread.join() }
            try server.accept()
            server.send(.welcome(Welcome(heartbeatInterval: heartbeatInterval, maximumQueuedMedia: 1000)))
        }
        return try #require(linked.link.withLock { $0 })
    }

    private final class LinkBox: Sendable { let link = Mutex<RelayLink?>(nil) }

    private static func keyframe(pts: Int64 = 0, byteCount: Int) -> AccessUnit {
        AccessUnit(
            pts: pts,
            captured: 0,
            encodeStart: 0,
            encodeEnd: 0,
            flags: .key,
            size: PictureSize(width: 2, height: 2),
            bytes: Array(repeating: 1, count: byteCount)
        )
    }

    private static func heartbeat(queued: Int = 0) -> Heartbeat {
        Heartbeat(
            clock: 0,
            framesReceived: 0,
            buffersSkipped: 0,
            framesCopied: 0,
            linkQueuedBytes: queued,
            sessions: []
        )
    }

    @Test("tells in a heartbeat of every byte that waits for it, those of a picture that is half written too")
    func queuedBytes() async throws {
        let server = try LinkServer(receiveBuffer: 4096)
        let link = try Self.link(to: server)
        let unit = Self.keyframe(byteCount: 12 << 20)
        #expect(link.send(unit, session: 1))
        // The first heartbeat is due.
        let linked = MonotonicClock.now
        _ = try await eventually("the heartbeat's time") {
            MonotonicClock.now > linked + .milliseconds(Self.heartbeatInterval) ? true : nil
        }
        let told = try await inThread {
            let told = Mutex(0)
            link.writeLoop { queuedBytes, _ in
                told.withLock { $0 = queuedBytes }
                link.close()
                return Self.heartbeat()
            }
            return told.withLock { $0 }
        }
        let sent = server.countBytesToEnd()
        let whole = Packet.hello(Self.hello).encoded().count + Packet.accessUnit(1, unit).encoded().count
        #expect(sent < whole, "the connection took all of it at once")
        #expect(told + sent == whole)
    }

    @Test("takes no picture that a packet has no room for: it is dropped and counted, and the session goes on")
    func oversize() throws {
        let server = try LinkServer()
        let link = try Self.link(to: server)
        let longest = PacketHeader.maximumLength - 48
        #expect(!link.send(Self.keyframe(byteCount: longest + 1), session: 1))
        let drops = Mutex<[SessionID: UInt64]>([:])
        let writer = try WorkerThread(name: "writer") {
            link.writeLoop { queued, now in
                drops.withLock { $0 = now }
                return Self.heartbeat(queued: queued)
            }
        }
        defer {
            link.close()
            writer.join()
        }
        #expect(link.send(Self.keyframe(pts: 7, byteCount: longest), session: 1))
        let received: AccessUnit = try server.next("the longest picture") { packet in
            if case .accessUnit(1, let unit) = packet { unit } else { nil }
        }
        #expect(received.pts == 7 && received.bytes.count == longest)
        let _: Bool = try server.next("a heartbeat") { packet in
            if case .heartbeat = packet { true } else { nil }
        }
        #expect(drops.withLock { $0 } == [1: 1])
    }
}
