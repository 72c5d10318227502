import CaptureAgent
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("The desk of the clipboard")
struct ClipboardDeskTests {
    /// A clipboard in memory, which records what happens to it.
    private final class Memory: Sendable {
        struct State {
            var content: ClipboardContent?
            var failure: ClipboardFailure?
            var events: [String] = []
        }

        let state = Mutex(State())
        let isServing: Event

        init() throws {
            isServing = try Event()
        }

        func note(_ event: String) { state.withLock { $0.events.append(event) } }
    }

    private final class Backend: ClipboardBackend {
        private let memory: Memory

        init(_ memory: Memory) { self.memory = memory }

        private func fail() throws(ClipboardFailure) {
            let failure = memory.state.withLock { state in
                defer { state.failure = nil }
                return state.failure
            }
            if let failure { throw failure }
        }

        func set(_ content: ClipboardContent, stop: Event) throws(ClipboardFailure) {
            memory.note("set")
            try fail()
            memory.state.withLock { $0.content = content }
        }

        func get(_ kind: ClipboardContent.Kind, stop: Event) throws(ClipboardFailure) -> ClipboardContent {
            memory.note("get")
            // A program that does not answer.
            if case .none = memory.state.withLock({ $0.content }) {
                stop.wait()
            }
            try fail()
            guard let content = memory.state.withLock({ $0.content }) else {
                throw .refused(.timeout, "silent")
            }
            return content
        }

        func serve(until events: [Event]) throws(ClipboardFailure) {
            memory.isServing.set()
            _ = Event.wait(forAnyOf: events, until: nil)
        }

        func close() { memory.note("close") }
    }

    private struct Access: ClipboardAccess {
        let memory: Memory
        var problemText: String?

        func problem() -> String? { problemText }

        func open() throws(ClipboardFailure) -> any ClipboardBackend {
            if let problemText { throw .refused(.noBackend, problemText) }
            memory.note("open")
            return Backend(memory)
        }
    }

    /// Gives a desk orders.
    private struct Orders {
        let desk: ClipboardDesk

        func callAsFunction(_ request: ClipboardOrder.Request) async -> ClipboardReport.Outcome {
            await withCheckedContinuation { continuation in
                desk.take(ClipboardOrder(id: 7, request: request)) { report in
                    continuation.resume(returning: report.id == 7 ? report.outcome : .done)
                }
            }
        }
    }

    /// Runs a desk while `body` gives it orders, and ends it.
    private func withDesk(
        _ memory: Memory,
        problem: String? = nil,
        _ body: (Orders, ClipboardDesk) async throws -> Void
    ) async throws {
        let stop = try Event()
        let desk = try ClipboardDesk(Access(memory: memory, problemText: problem), stop: stop)
        let thread = try WorkerThread(name: "clipboard") { desk.run() }
        let result: Result<Void, any Error>
        do {
            try await body(Orders(desk: desk), desk)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        stop.set()
        thread.join()
        try result.get()
    }

    @Test("sets and gets over one backend, which it closes at its end")
    func orders() async throws {
        let memory = try Memory()
        let text = ClipboardContent(.text, Array("é".utf8))
        try await withDesk(memory) { order, desk in
            #expect(desk.isAvailable)
            #expect(await order(.set(text)) == .done)
            #expect(await order(.get(.text)) == .content(text))
            // Programs that paste are served meanwhile.
            #expect(memory.isServing.wait(until: MonotonicClock.now + .milliseconds(5_000)))
        }
        #expect(memory.state.withLock { $0.events } == ["open", "set", "get", "close"])
    }

    @Test("refuses content that is not of its kind or too large")
    func contents() async throws {
        let memory = try Memory()
        try await withDesk(memory) { order, _ in
            for (content, refusal) in [
                (ClipboardContent(.text, [0xFF]), ClipboardReport.Refusal.malformed),
                (ClipboardContent(.png, Array("GIF89a".utf8)), .malformed),
                (ClipboardContent(.text, Array(repeating: 0x61, count: 1 << 20 | 1)), .tooLarge),
            ] {
                memory.state.withLock { $0.content = content }
                guard case .refused(refusal, _) = await order(.get(content.kind)) else {
                    Issue.record("\(content.kind) is not refused as \(refusal)")
                    continue
                }
            }
        }
    }

    @Test("opens the desktop again after it was lost, and not after a refusal")
    func loss() async throws {
        let memory = try Memory()
        let text = ClipboardContent(.text, [])
        try await withDesk(memory) { order, _ in
            memory.state.withLock { $0.failure = .refused(.failed, "no") }
            #expect(await order(.set(text)) == .refused(.failed, detail: "no"))
            #expect(await order(.set(text)) == .done)
            memory.state.withLock { $0.failure = .lost("gone") }
            #expect(await order(.set(text)) == .refused(.failed, detail: "gone"))
            #expect(await order(.set(text)) == .done)
        }
        #expect(
            memory.state.withLock { $0.events } == ["open", "set", "set", "set", "close", "open", "set", "close"]
        )
    }

    @Test("says why there is no clipboard")
    func none() async throws {
        let memory = try Memory()
        try await withDesk(memory, problem: "Start a desktop.") { order, desk in
            #expect(!desk.isAvailable)
            #expect(await order(.get(.text)) == .refused(.noBackend, detail: "Start a desktop."))
        }
        #expect(memory.state.withLock { $0.events } == [])
    }

    @Test("answers at once if too many orders wait, and ends while a program does not answer")
    func silence() async throws {
        let memory = try Memory()
        let answers = Mutex<[ClipboardReport]>([])
        try await withDesk(memory) { _, desk in
            desk.take(ClipboardOrder(id: 1, request: .get(.text))) { report in answers.withLock { $0.append(report) } }
            _ = try await eventually("the first order") {
                memory.state.withLock { $0.events.contains("get") } ? true : nil
            }
            for id: UInt32 in 2...6 {
                desk.take(ClipboardOrder(id: id, request: .get(.text))) { report in
                    answers.withLock { $0.append(report) }
                }
            }
            #expect(answers.withLock { $0.map(\.id) } == [6])
            guard case .refused(.busy, _) = answers.withLock({ $0.first?.outcome }) else {
                Issue.record("not busy")
                return
            }
        }
        #expect(answers.withLock { $0.contains { $0.id == 1 } })
        #expect(memory.state.withLock { $0.events.last } == "close")
    }

    @Test("test patterns and windows have no clipboard")
    func choice() {
        let size = PictureSize(width: 640, height: 360)
        let sources: [AgentConfiguration.Source] = [
            .testPattern(size, fps: 30), .auto(.window, cursor: .embedded), .portal(.window, cursor: .embedded),
            .mutter(.focusedWindow, cursor: .embedded),
        ]
        for source in sources {
            #expect(ClipboardBackendChoice(source).problem() != nil)
            #expect(throws: ClipboardFailure.self) { try ClipboardBackendChoice(source).open() }
        }
    }
}
