import CaptureAgent
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("Snapshots in the agent")
struct SnapshotDeskTests {
    private static let size = PictureSize(width: 64, height: 48)

    private static func frame(_ number: UInt32, captured: UInt64 = MonotonicClock.now) -> CapturedFrame {
        TestPatternSource.frame(number: number, size: size, captured: captured)
    }

    private static func request(_ id: UInt32, fresh: Bool = false) -> SnapshotRequest {
        SnapshotRequest(id: id, format: .jpeg, quality: 85, isFresh: fresh)
    }

    /// A desk whose thread runs while `body` runs, the screen that it shows, and its answers.
    private static func withDesk(
        _ body: (SnapshotDesk, _ show: (CapturedFrame) -> Void, _ answers: () -> [Snapshot]) async throws -> Void
    ) async throws {
        let answers = AnswerBox()
        let shown = FrameBox()
        let desk = SnapshotDesk { _, snapshot in answers.snapshots.withLock { $0.append(snapshot) } }
        let thread = try WorkerThread(name: "snapshots") {
            desk.run { _ in
                guard let frame = shown.frame.withLock({ $0 }) else { return .failure(SnapshotRefusal(.noFrame)) }
                return .success(SnapshotSubject(frame: frame, size: RequestedSize()))
            }
        }
        defer {
            desk.close()
            thread.join()
        }
        func show(_ frame: CapturedFrame) {
            shown.frame.withLock { $0 = frame }
            desk.frameArrived(captured: frame.captured)
        }
        try await body(desk, show) { answers.snapshots.withLock { $0 } }
    }

    private final class AnswerBox: Sendable { let snapshots = Mutex<[Snapshot]>([]) }
    private final class FrameBox: Sendable { let frame = Mutex<CapturedFrame?>(nil) }

    @Test("are refused while there is no frame, then made of the newest one")
    func newest() async throws {
        try await Self.withDesk { desk, show, answers in
            desk.take(Self.request(1), of: 1, patience: 0)
            _ = try await eventually("the refusal") { answers().count == 1 ? true : nil }
            #expect(answers() == [Snapshot(request: 1, outcome: .refusal(.noFrame))])
            show(Self.frame(0, captured: 5))
            show(Self.frame(1, captured: 6))
            desk.take(Self.request(2), of: 1, patience: 0)
            let second = try await eventually("the picture") { answers().count == 2 ? answers()[1] : nil }
            #expect(second.request == 2)
            #expect(second.captured == 6)
        }
    }

    @Test("fresh ones wait for a frame and delay no others")
    func fresh() async throws {
        try await Self.withDesk { desk, show, answers in
            let old = MonotonicClock.now
            show(Self.frame(0, captured: old))
            desk.take(Self.request(1, fresh: true), of: 1, patience: .max / 4)
            desk.take(Self.request(2), of: 1, patience: 0)
            _ = try await eventually("the other") { answers().isEmpty ? nil : true }
            #expect(answers().map(\.request) == [2])
            let new = MonotonicClock.now
            // A frame that was captured before the request and arrives late.
            show(Self.frame(1, captured: old + 1))
            show(Self.frame(2, captured: new))
            _ = try await eventually("the fresh one") { answers().count == 2 ? true : nil }
            #expect(answers()[1].captured == new)
        }
    }

    @Test("fresh ones of a static screen are made when their time is up")
    func freshOfAStaticScreen() async throws {
        try await Self.withDesk { desk, show, answers in
            let old = MonotonicClock.now
            show(Self.frame(0, captured: old))
            desk.take(Self.request(1, fresh: true), of: 1, patience: 1_000_000)
            let snapshot = try await eventually("the snapshot") { answers().first }
            #expect(snapshot.captured == old)
        }
    }

    @Test("are refused at once when too many wait")
    func busy() async throws {
        try await Self.withDesk { desk, _, answers in
            for id: UInt32 in 1...33 { desk.take(Self.request(id, fresh: true), of: 1, patience: .max / 4) }
            #expect(answers() == [Snapshot(request: 33, outcome: .refusal(.busy))])
        }
    }

    @Test("show what viewers see: the slate while the source is lost, its frames when it is back")
    func slate() throws {
        let screen = Screen()
        #expect(throws: SnapshotRefusal(.unknownSession)) { try screen.snapshotSubject(of: 1).get() }
        let parameters = SessionParameters(
            codec: .h264,
            size: RequestedSize(width: 32),
            fps: 30,
            bitrate: 1_000_000,
            repeat: true,
            keyframeInterval: 1000,
            epoch: 0
        )
        screen.addSession(1, parameters, catalogue: .software, output: SessionRecorder())
        defer { screen.removeSession(1) }
        #expect(throws: SnapshotRefusal(.noFrame)) { try screen.snapshotSubject(of: 1).get() }
        screen.receive(Self.frame(0, captured: 1))
        #expect(try screen.snapshotSubject(of: 1).get().frame.captured == 1)
        #expect(try screen.snapshotSubject(of: 1).get().size == RequestedSize(width: 32))
        screen.sourceChanged(SourceStatus(state: .lost))
        #expect(try screen.snapshotSubject(of: 1).get().frame.captured == 1)
        let now = MonotonicClock.now + 1_000_000
        screen.showSlate(lostFor: 1, now: now)
        #expect(try screen.snapshotSubject(of: 1).get().frame.captured == now)
        screen.sourceChanged(SourceStatus(state: .streaming))
        screen.receive(Self.frame(1, captured: 2))
        #expect(try screen.snapshotSubject(of: 1).get().frame.captured == 2)
        // A session that is not active also has a screen.
        #expect(screen.updateSession(1, SessionUpdate(isActive: false)) == nil)
        #expect(try screen.snapshotSubject(of: 1).get().frame.captured == 2)
    }
}

extension Snapshot {
    fileprivate var captured: UInt64? {
        if case .picture(let picture) = outcome { picture.captured } else { nil }
    }
}
