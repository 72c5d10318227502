import CaptureAgent
import Foundation
import Media
import TestSupport
import Testing
import Wire

/// Runs a real agent in its own process, to which the system really refuses everything above a limit.
@Suite("An agent that the system refuses")
struct ShortageTests {
    private static let testPattern = ["--source", "test-pattern", "--size", "320x240", "--fps", "30"]

    private static func parameters(codec: Codec = .h264) -> SessionParameters {
        SessionParameters(
            codec: codec,
            size: RequestedSize(),
            fps: 30,
            bitrate: 1_000_000,
            repeat: true,
            keyframeInterval: 60_000,
            epoch: MonotonicClock.now
        )
    }

    /// Waits for an agent's call and answers its HELLO.
    private static func link(_ server: LinkServer) throws {
        try server.accept()
        server.send(.welcome(Welcome(heartbeatInterval: 50, maximumQueuedMedia: 1000)))
    }

    /// Runs a linked agent while `body` runs, and requires that it ends cleanly.
    private static func withAgent(
        _ arguments: [String] = testPattern,
        _ body: (LinkServer, AgentProcess) async throws -> Void
    ) async throws {
        let server = try LinkServer()
        let agent = try AgentProcess(relay: server.port, arguments)
        do {
            try link(server)
            // libx265 waits forever for a thread that is refused while it opens.
            try await eventually("the end of the thread that tries the encoders") {
                try agent.threadNames().contains("encoder-probe") ? nil : ()
            }
            try await body(server, agent)
        } catch {
            Issue.record("\(error); \(agent.end())")
            return
        }
        #expect(agent.end().end == .status(0))
    }

    @Test("threads fails the sessions that it has none for, says what to do, and takes them up once there are some")
    func threadsOfSessions() async throws {
        try #require(AgentProcess.canLimitThreads)
        try await Self.withAgent { server, agent in
            server.send(.sessionAdd(1, Self.parameters()))
            let first: AccessUnit = try server.next("a picture") { $0.accessUnit(of: 1) }
            try await agent.limiting(.threads, to: 1) {
                server.send(.sessionAdd(2, Self.parameters()))
                server.send(.keyframeRequest(2, request: 1))
                let failure: SessionFailure = try server.next("the error") { $0.failure(of: 2) }
                #expect(failure.code == .outOfResources)
                #expect(failure.reason.contains("limit"), "\(failure.reason)")
                server.send(.keyframeRequest(2, request: 2))
                var pts = first.pts
                for _ in 0..<30 {
                    let unit: AccessUnit = try server.next("a picture") { packet in
                        #expect(packet.failure(of: 2) == nil, "it is said once")
                        return packet.accessUnit(of: 1)
                    }
                    #expect(unit.pts > pts)
                    pts = unit.pts
                }
            }
            server.send(.keyframeRequest(2, request: 3))
            let second: AccessUnit = try server.next("the other session's picture") { $0.accessUnit(of: 2) }
            #expect(second.isKey && second.keyframeRequest == 3)
        }
    }

    @Test("a thread for an encoder fails its session, which goes on by itself once there is one")
    func threadsOfEncoders() async throws {
        try #require(AgentProcess.canLimitThreads)
        try await Self.withAgent { server, agent in
            let _: Bool = try server.next("all encoders") { packet in
                guard case .encoders(let reports) = packet else { return nil }
                return reports.encoders.count == EncoderEntry.listed.count ? true : nil
            }
            let threads = try agent.threadNames().count
            // The session's own thread is available, but the one that libx265 starts is not.
            try await agent.limiting(.threads, to: threads + 1) {
                server.send(.sessionAdd(1, Self.parameters(codec: .h265)))
                let failure: SessionFailure = try server.next("the error") { $0.failure(of: 1) }
                #expect(failure.code == .outOfResources)
                #expect(failure.reason.hasPrefix("x265") && failure.reason.contains("limit"), "\(failure.reason)")
            }
            let unit: AccessUnit = try server.next("a picture") { $0.accessUnit(of: 1) }
            #expect(unit.isKey)
        }
    }

    @Test("threads for a link loses the link and tries again")
    func threadsOfLinks() async throws {
        try #require(AgentProcess.canLimitThreads)
        try await Self.withAgent { server, agent in
            let _: Heartbeat = try server.next("a heartbeat") { $0.heartbeat }
            try await agent.limiting(.threads, to: 1) {
                for _ in 0..<2 {
                    try Self.link(server)
                    #expect(throws: NeverCame.self) { try server.next("a heartbeat") { $0.heartbeat } }
                }
            }
            try Self.link(server)
            server.send(.sessionAdd(1, Self.parameters()))
            let _: AccessUnit = try server.next("a picture") { $0.accessUnit(of: 1) }
        }
    }

    @Test("file descriptors serves the sessions that it has, and new ones")
    func descriptors() async throws {
        try await Self.withAgent { server, agent in
            server.send(.sessionAdd(1, Self.parameters()))
            let _: AccessUnit = try server.next("a picture") { $0.accessUnit(of: 1) }
            try await agent.limiting(.descriptors, to: 3) {
                for (id, codec) in [(SessionID(2), Codec.h264), (3, .h265)] {
                    server.send(.sessionAdd(id, Self.parameters(codec: codec)))
                    let unit: AccessUnit = try server.next("a picture") { $0.accessUnit(of: id) }
                    #expect(unit.isKey)
                }
            }
        }
    }

    @Test("file descriptors for a link ends when it has been without the relay for too long, and says what to do")
    func descriptorsOfLinks() async throws {
        let server = try LinkServer()
        let agent = try AgentProcess(relay: server.port, ["--relay-absence", "0.3"] + Self.testPattern)
        try Self.link(server)
        let _: Heartbeat = try server.next("a heartbeat") { $0.heartbeat }
        try await agent.limiting(.descriptors, to: 3) {
            server.hangUp()
            let (end, said) = agent.waitForEnd()
            #expect(end == .status(75))
            #expect(said.contains("Raise its limit of open files"), "\(said)")
        }
    }

    @Test("file descriptors for its source says so, and opens the source once there are some")
    func descriptorsOfSources() async throws {
        let scratch = try Scratch()
        let picture = scratch.file("screen.ppm").path
        // There is no picture yet, so the source is opened repeatedly.
        let arguments = ["--source", "screenshot", "--command", "cat", picture]
        try await Self.withAgent(arguments) { server, agent in
            func status(_ what: String, _ state: SourceStatus.State, _ cause: String?) throws -> SourceStatus {
                try server.next(what) { packet in
                    guard case .status(let status) = packet, status.state == state else { return nil }
                    return cause == nil || status.cause == cause ? status : nil
                }
            }
            _ = try status("the missing picture", .lost, "command_failed")
            try await agent.limiting(.descriptors, to: 3) {
                let lost = try status("the shortage", .lost, "no_descriptors")
                #expect(lost.detail?.contains("limit") == true)
            }
            _ = try scratch.write(
                Array("P6\n16 16\n255\n".utf8) + [UInt8](repeating: 9, count: 16 * 16 * 3),
                to: "screen.ppm"
            )
            _ = try status("the picture", .streaming, nil)
        }
    }

    @Test("a resource at its start: it ends with a sentence and a status, or serves", arguments: Self.starts)
    func start(limit: AgentProcess.Limit, value: Int) async throws {
        try #require(limit == .descriptors || AgentProcess.canLimitThreads)
        // The agent does not wait long for an answer.
        let (isLinked, served, end, said) = try await inThread { try Self.start([limit: value]) }
        switch end {
        case .status(0): #expect(isLinked)
        // No program could be loaded, or the relay could not be reached.
        case .status(127), .status(75): #expect(!isLinked, "\(said)")
        // libx265 waits forever for a thread that another thread has taken just before it.
        case .status(70): #expect(limit == .threads)
        case .status(71): #expect(!isLinked && said.contains("limit"), "\(said)")
        default: Issue.record("\(end), \(served.map { "served: \($0)" } ?? "no link"), \(said)")
        }
    }

    /// Starts an agent with a session, tells it to end, and returns the result.
    private static func start(
        _ limits: [AgentProcess.Limit: Int]
    ) throws -> (isLinked: Bool, served: Bool?, end: AgentProcess.End, said: String) {
        let server = try LinkServer()
        let arguments = ["--relay-absence", "0.2", "--role", "standby"] + testPattern
        let agent = try AgentProcess(relay: server.port, arguments, limits: limits)
        guard server.waitForCaller(while: { agent.isRunning }) else {
            let (end, said) = agent.waitForEnd()
            return (false, nil, end, said)
        }
        try link(server)
        server.send(.sessionAdd(1, parameters()))
        // A link without its threads is lost.
        let served = try? server.next("a picture, or why not") { packet in
            packet.accessUnit(of: 1).map { _ in true } ?? packet.failure(of: 1).map { _ in false }
        }
        let (end, said) = agent.end()
        return (true, served, end, said)
    }

    private static let starts: [(AgentProcess.Limit, Int)] =
        (3...12).map { (.descriptors, $0) } + (1...12).map { (.threads, $0) }
}

extension Packet {
    fileprivate func accessUnit(of session: SessionID) -> AccessUnit? {
        if case .accessUnit(session, let accessUnit) = self { accessUnit } else { nil }
    }

    fileprivate var heartbeat: Heartbeat? {
        if case .heartbeat(let heartbeat) = self { heartbeat } else { nil }
    }

    fileprivate func failure(of session: SessionID) -> SessionFailure? {
        if case .sessionError(session, let failure) = self { failure } else { nil }
    }
}
