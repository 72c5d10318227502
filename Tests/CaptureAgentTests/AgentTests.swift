import CaptureAgent
import Logging
import Media
import TestSupport
import Testing
import Wire

@Suite("An agent on its link")
struct AgentTests {
    /// Runs an agent with the test pattern against a relay that `body` simulates.
    private static func withAgent(
        server: LinkServer? = nil,
        welcome: Welcome = Welcome(heartbeatInterval: 50, maximumQueuedMedia: 1000),
        _ body: (LinkServer) async throws -> Void
    ) async throws {
        let server = try server ?? LinkServer()
        let agent = try Agent(
            configuration: AgentConfiguration(
                relayHost: "127.0.0.1",
                relayPort: server.port,
                device: "default",
                source: .testPattern(PictureSize(width: 320, height: 240), fps: 60),
                token: "secret",
                stateDirectory: "/nonexistent",
                consentTimeout: 1,
                relayAbsence: 30
            ),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let thread = try WorkerThread(name: "agent") { _ = try? agent.run() }
        defer {
            agent.stop()
            thread.join()
        }
        try server.accept()
        server.send(.welcome(welcome))
        try await body(server)
    }

    private static func parameters(codec: Codec = .h264, encoder: String = "auto") -> SessionParameters {
        SessionParameters(
            codec: codec,
            encoder: encoder,
            size: RequestedSize(),
            fps: 30,
            bitrate: 1_000_000,
            repeat: true,
            keyframeInterval: 60_000,
            epoch: MonotonicClock.now
        )
    }

    @Test("tells which encoders work, without having been asked")
    func encoders() async throws {
        try await Self.withAgent { server in
            let reports: [EncoderReport] = try server.next("all encoders") { packet in
                guard case .encoders(let reports) = packet else { return nil }
                return reports.encoders.count == EncoderEntry.listed.count ? reports.encoders : nil
            }
            #expect(reports.filter(\.available).map(\.name).contains("x265"))
        }
    }

    @Test("serves H.265, and takes changes while it runs")
    func update() async throws {
        try await Self.withAgent { server in
            server.send(.sessionAdd(4, Self.parameters(codec: .h265)))
            let first: AccessUnit = try server.next("a picture") { $0.accessUnit }
            #expect(first.flags.contains(.key))
            #expect(ParameterSets(leading: first.bytes, codec: .h265) != nil)
            server.send(.sessionUpdate(4, SessionUpdate(size: RequestedSize(width: 160))))
            let second: AccessUnit = try server.next("a keyframe of the new size") { packet in
                packet.accessUnit.flatMap { $0.size.width == 160 ? $0 : nil }
            }
            #expect(second.flags.contains(.key))
            #expect(second.pts > first.pts)
            let figures: SessionFigures = try server.next("a heartbeat") { $0.heartbeat?.sessions.first }
            #expect(figures.encoder == "x265")
        }
    }

    @Test(
        "makes snapshots of a session's size, fresh ones of a later frame, and refuses those of sessions that it does not know"
    )
    func snapshots() async throws {
        try await Self.withAgent { server in
            var parameters = Self.parameters()
            parameters.size = RequestedSize(width: 160)
            server.send(.sessionAdd(4, parameters))
            let _: AccessUnit = try server.next("a picture") { $0.accessUnit }
            for format in SnapshotFormat.allCases {
                let asked = MonotonicClock.now
                let id = UInt32(format.rawValue)
                server.send(.snapshotRequest(4, SnapshotRequest(id: id, format: format, quality: 85, isFresh: true)))
                let snapshot: Snapshot = try server.next("the snapshot") { $0.snapshot(of: 4) }
                #expect(snapshot.request == id)
                guard case .picture(let picture) = snapshot.outcome else {
                    Issue.record("\(snapshot.outcome)")
                    continue
                }
                #expect(picture.format == format)
                #expect(picture.size == PictureSize(width: 160, height: 120))
                #expect(picture.captured >= asked)
                #expect(picture.bytes.starts(with: format == .jpeg ? [0xFF, 0xD8, 0xFF] : [0x89, 0x50, 0x4E, 0x47]))
            }
            server.send(.snapshotRequest(5, SnapshotRequest(id: 9, format: .jpeg, quality: 85, isFresh: false)))
            let refused: Snapshot = try server.next("the refusal") { $0.snapshot(of: 5) }
            #expect(refused == Snapshot(request: 9, outcome: .refusal(.unknownSession)))
        }
    }

    @Test("keeps a session that is not active without a picture, and begins with the keyframe that it is asked for")
    func dormantSession() async throws {
        try await Self.withAgent { server in
            var parameters = Self.parameters()
            parameters.isActive = false
            server.send(.sessionAdd(1, parameters))
            server.send(.sessionUpdate(1, SessionUpdate(size: RequestedSize(width: 160))))
            var (others, heartbeats) = (0, 0)
            while heartbeats < 4 {
                let packet: Packet = try server.next("a packet") { $0 }
                if packet.accessUnit != nil { others += 1 }
                guard case .heartbeat(let heartbeat) = packet else { continue }
                heartbeats += 1
                #expect(heartbeat.sessions.isEmpty)
            }
            #expect(others == 0)
            for request: UInt32 in [9, 10] {
                server.send(.keyframeRequest(1, request: request))
                server.send(.sessionUpdate(1, SessionUpdate(isActive: true)))
                // An earlier picture may still be on its way, but a keyframe must be the requested one.
                let first: AccessUnit = try server.next("a keyframe") { packet in
                    packet.accessUnit.flatMap { $0.flags.contains(.key) ? $0 : nil }
                }
                #expect(first.keyframeRequest == request)
                #expect(first.size.width == 160, "changes count while it is not active")
                server.send(.sessionUpdate(1, SessionUpdate(isActive: false)))
                let _: Bool = try server.next("a heartbeat without the session") { packet in
                    if case .heartbeat(let heartbeat) = packet, heartbeat.sessions.isEmpty { true } else { nil }
                }
            }
        }
    }

    @Test("says that a test pattern takes no input, and the geometry of snapshots, to a relay that knows both")
    func input() async throws {
        for takesInputs in [true, nil] {
            let welcome = Welcome(heartbeatInterval: 50, maximumQueuedMedia: 1000, takesInputs: takesInputs)
            try await Self.withAgent(welcome: welcome) { server in
                if takesInputs == true {
                    let offers: InputCapabilities = try server.next("what it offers") {
                        if case .inputs(let offers) = $0 { offers } else { nil }
                    }
                    #expect(offers.backend == "none")
                    #expect(offers.problem != nil)
                }
                server.send(.sessionAdd(4, Self.parameters()))
                let _: AccessUnit = try server.next("a picture") { $0.accessUnit }
                server.send(.snapshotRequest(4, SnapshotRequest(id: 1, format: .jpeg, quality: 85, isFresh: false)))
                let snapshot: Snapshot = try server.next("the snapshot") { $0.snapshot(of: 4) }
                guard case .picture(let picture) = snapshot.outcome else {
                    Issue.record("\(snapshot.outcome)")
                    return
                }
                #expect((picture.geometry != 0) == (takesInputs == true))
                let steps: [InputStep] = [.pointer(x: 1, y: 1)]
                for (geometry, expected) in [(picture.geometry, InputReport.Refusal.noBackend), (1, .geometryChanged)] {
                    server.send(.input(4, InputOrder(id: geometry, geometry: geometry, steps: steps)))
                    let report: InputReport = try server.next("the refusal") {
                        if case .inputDone(4, let report) = $0 { report } else { nil }
                    }
                    #expect(report.id == geometry)
                    if case .refused(let why, 0, _) = report.outcome {
                        #expect(why == expected)
                    } else {
                        Issue.record("\(report.outcome)")
                    }
                }
            }
        }
    }

    @Test("sends only the id of a session with unchanged figures, to a relay that supports it")
    func unchangedFigures() async throws {
        for takesUnchanged in [nil, true] {
            // More heartbeats than frames.
            let welcome = Welcome(heartbeatInterval: 10, maximumQueuedMedia: 1000, takesUnchanged: takesUnchanged)
            try await Self.withAgent(welcome: welcome) { server in
                server.send(.sessionAdd(4, Self.parameters()))
                var (told, unchanged) = (0, 0)
                while told + unchanged < 60 {
                    let heartbeat: Heartbeat = try server.next("a heartbeat") { $0.heartbeat }
                    told += heartbeat.sessions.count
                    unchanged += heartbeat.unchanged?.count ?? 0
                }
                #expect(told > 0)
                #expect((unchanged > 0) == (takesUnchanged == true))
            }
        }
    }

    @Test("checks a session that is not active like any other")
    func dormantSessionIsChecked() async throws {
        try await Self.withAgent { server in
            var parameters = Self.parameters()
            parameters.isActive = false
            server.send(.sessionAdd(1, parameters))
            server.send(.sessionUpdate(1, SessionUpdate(fps: 1000, isActive: true)))
            let failure: SessionFailure = try server.next("the error") { $0.failure(of: 1) }
            #expect(failure.code == .invalidParameters)
            let heartbeat: Heartbeat = try server.next("a heartbeat") { $0.heartbeat }
            #expect(heartbeat.sessions.isEmpty)
        }
    }

    @Test(
        "access units of several sessions come whole and in order, and so do they when the relay has not read for a second"
    )
    func stalledRelay() async throws {
        try await Self.withAgent(server: LinkServer(receiveBuffer: 4096)) { server in
            let sessions: ClosedRange<SessionID> = 1...6
            for id in sessions { server.send(.sessionAdd(id, Self.parameters())) }
            let _: AccessUnit = try server.next("a picture") { $0.accessUnit }
            var last: [SessionID: Int64] = [:]
            var hasQueued = false
            // The system's buffer varies, so this is repeated until the link was full.
            for _ in 0..<10 where !hasQueued {
                try await Task.sleep(for: .seconds(1))
                var counts: [SessionID: Int] = [:]
                // Cut or mixed-up packets are a protocol error, which `next` throws.
                let _: Bool = try server.next("150 pictures of each") { packet in
                    if case .heartbeat(let heartbeat) = packet, heartbeat.linkQueuedBytes > 0 { hasQueued = true }
                    guard case .accessUnit(let id, let unit) = packet else { return nil }
                    #expect(unit.pts > last[id] ?? .min)
                    last[id] = unit.pts
                    counts[id, default: 0] += 1
                    return sessions.allSatisfy { counts[$0, default: 0] >= 150 } ? true : nil
                }
            }
            #expect(hasQueued, "the link was full")
        }
    }

    @Test("answers what it cannot do with a reason and a code, and goes on")
    func errors() async throws {
        try await Self.withAgent { server in
            let wrong: [(SessionID, Packet, SessionFailure.Code)] = [
                (1, .sessionAdd(1, Self.parameters(encoder: "h264_imaginary")), .encoderUnavailable),
                (2, .sessionAdd(2, Self.parameters(encoder: "")), .invalidParameters),
            ]
            for (id, packet, code) in wrong {
                server.send(packet)
                let failure: SessionFailure = try server.next("the error") { $0.failure(of: id) }
                #expect(failure.code == code)
            }
            server.send(.sessionAdd(3, Self.parameters()))
            server.send(.sessionUpdate(3, SessionUpdate(fps: 1000)))
            let failure: SessionFailure = try server.next("the error") { $0.failure(of: 3) }
            #expect(failure.code == .invalidParameters)
            // An unknown id may be that of a session that has just failed.
            server.send(.sessionUpdate(99, SessionUpdate(fps: 10)))
            let _: AccessUnit = try server.next("a picture") { $0.accessUnit }
        }
    }
}

extension Packet {
    fileprivate var accessUnit: AccessUnit? {
        if case .accessUnit(_, let accessUnit) = self { accessUnit } else { nil }
    }

    fileprivate var heartbeat: Heartbeat? {
        if case .heartbeat(let heartbeat) = self { heartbeat } else { nil }
    }

    fileprivate func snapshot(of session: SessionID) -> Snapshot? {
        if case .snapshot(session, let snapshot) = self { snapshot } else { nil }
    }

    fileprivate func failure(of session: SessionID) -> SessionFailure? {
        if case .sessionError(session, let failure) = self { failure } else { nil }
    }
}
