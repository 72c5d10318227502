import CaptureAgent
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("The test pattern")
struct TestPatternSourceTests {
    private static let size = PictureSize(width: 64, height: 64)
    private static let fps = 50

    /// A sink that keeps when frames were captured, and how often it heard that they are outdated.
    private final class Sink: FrameSink {
        private let state = Mutex((captured: [UInt64](), outdated: 0))

        var captured: [UInt64] { state.withLock { $0.captured } }
        var outdatedCount: Int { state.withLock { $0.outdated } }

        func receive(_ frame: CapturedFrame) { state.withLock { $0.captured.append(frame.captured) } }
        func outdated() { state.withLock { $0.outdated += 1 } }
        func pointerMoved(to place: SIMD2<Int>?) {}
        func skippedBuffer() {}
        func copiedFrame() {}
        func sourceChanged(_ status: SourceStatus) {}
    }

    @Test("draws one frame and rests while no session wants pictures, and goes on at once when one does")
    func rests() async throws {
        let (sink, stop) = (Sink(), try Event())
        let demand = SourceDemand(.none)
        let source = TestPatternSource(size: Self.size, fps: Self.fps)
        let thread = try WorkerThread(name: "pattern") { try? source.run(into: sink, demand: demand, stop: stop) }
        defer {
            stop.set()
            thread.join()
        }
        _ = try await eventually("the first frame") { sink.outdatedCount == 1 ? true : nil }
        #expect(sink.captured.count == 1)
        // Ten frames would come in this time.
        try await Task.sleep(for: .milliseconds(200))
        #expect(sink.captured.count == 1)
        demand.follow { SourceDemand.Value(fastestSession: 30, takesDMABuf: false) }
        _ = try await eventually("more frames") { sink.captured.count >= 5 ? true : nil }
        let captured = sink.captured
        #expect(captured[1] - captured[0] >= 200_000_000 && captured == captured.sorted(), "\(captured)")
        demand.follow { .none }
        _ = try await eventually("the end of frames") { sink.outdatedCount == 2 ? true : nil }
    }
}
