import CaptureAgent
import Foundation
import Glibc
import Media
import Synchronization
import TestSupport
import Testing
import Wire

/// Collects a session's output.
private final class PictureRecorder: SessionOutput {
    private let state = Mutex<(units: [AccessUnit], failures: Int)>(([], 0))

    func send(_ accessUnit: AccessUnit, session: SessionID) -> Bool {
        state.withLock { $0.units.append(accessUnit) }
        return true
    }

    func sessionFailed(_ session: SessionID, _ failure: SessionFailure) {
        state.withLock { $0.failures += 1 }
    }

    var units: [AccessUnit] { state.withLock { $0.units } }
    var failures: Int { state.withLock { $0.failures } }
    var stream: [UInt8] { units.flatMap(\.bytes) }
    var liveCount: Int { units.count { !$0.flags.contains(.repeat) } }
}

/// A node that offers DMA-BUFs and memory, on a desktop of its own, and the `Screen` of it in this process.
private final class CapturedNode {
    static let size = PictureSize(width: 640, height: 360)
    private static let padding = 52
    private static let offset = 132
    /// How the node lays out its pictures.
    static let layout = ImportLog.Import(
        description: FrameDescription(size: size, stride: size.width * 4 + padding, format: .bgrx),
        offset: offset,
        modifier: DMABuf.linear
    )

    let screen = Screen()
    let log: ImportLog
    private let desktop: Desktop
    private let stop: Event
    private let thread: WorkerThread
    private let catalogue: EncoderCatalogue

    init(log: ImportLog = ImportLog(), holdAt value: Int? = nil) throws {
        self.log = log
        catalogue = EncoderCatalogue(entries: [.x264, .x265], resolve: { $0 == "mapping" ? log.entry : nil })
        desktop = try Desktop(.none)
        let buffers = ["--dma-buf", "--padding", "\(Self.padding)", "--offset", "\(Self.offset)"]
        try desktop.startNode("screen", size: Self.size.description, holdAt: value, buffers: buffers)
        let runtime = try #require(try desktop.environment()["XDG_RUNTIME_DIR"])
        let source = NodeSource(node: "screen", remote: .descriptor(try Self.connect(to: runtime + "/pipewire-0")))
        let stop = try Event()
        self.stop = stop
        thread = try WorkerThread(name: "source") { [screen] in
            try? source.run(into: screen, demand: screen.demand, stop: stop)
        }
    }

    func end() {
        screen.removeSession(1)
        screen.removeSession(2)
        stop.set()
        thread.join()
        desktop.end()
    }

    func addSession(
        _ id: SessionID,
        encoder: String,
        size: RequestedSize = RequestedSize()
    ) -> PictureRecorder {
        let recorder = PictureRecorder()
        let parameters = SessionParameters(
            codec: .h264,
            encoder: encoder,
            size: size,
            fps: 30,
            bitrate: 6_000_000,
            repeat: true,
            keyframeInterval: 60_000,
            epoch: MonotonicClock.now
        )
        screen.addSession(id, parameters, catalogue: catalogue, output: recorder)
        return recorder
    }

    /// Waits until the session has sent `count` more live pictures.
    func waitForLive(_ count: Int, _ recorder: PictureRecorder) async throws {
        let goal = recorder.liveCount + count
        _ = try await eventually("\(goal) live pictures") { recorder.liveCount >= goal ? true : nil }
    }

    func waitForImports(_ count: Int) async throws {
        let goal = log.imports.count + count
        _ = try await eventually("\(goal) imports") { log.imports.count >= goal ? true : nil }
    }

    /// The counters that a session's pictures show.
    func counters(_ recorder: PictureRecorder) throws -> [Int?] {
        try FFmpeg.decodeLuma(h264: recorder.stream, size: Self.size).map {
            Pictures.counter(luma: $0, size: Self.size)
        }
    }

    private static func connect(to path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0, "\(path): \(String(cString: strerror(errno)))")
        return descriptor
    }
}

extension SystemTests {
    @Suite("Frames in DMA-BUFs, on a machine without a GPU")
    struct DMABufTests {
        @Test("are not asked for by a session whose encoder takes memory")
        func memoryByDefault() async throws {
            let node = try CapturedNode()
            defer { node.end() }
            let recorder = node.addSession(1, encoder: "x264")
            try await node.waitForLive(40, recorder)
            #expect(!node.screen.demand.value.takesDMABuf)
            let counters = try node.counters(recorder)
            #expect(!counters.contains(nil) && Set(counters).count > 20)
        }

        @Test(
            "reach an encoder that imports them, with the modifier that the node chose, stride and offset, and decode to what was sent"
        )
        func imported() async throws {
            let node = try CapturedNode(holdAt: 100)
            defer { node.end() }
            let recorder = node.addSession(1, encoder: "mapping")
            try await node.waitForImports(60)
            _ = try await eventually("the last picture") { try node.counters(recorder).last == 100 ? true : nil }
            #expect(Set(node.log.imports) == [CapturedNode.layout])
            let counters = try node.counters(recorder)
            #expect(!counters.contains(nil) && counters.compactMap(\.self) == counters.compactMap(\.self).sorted())
            let last = try #require(try FFmpeg.decodeLuma(h264: recorder.stream, size: CapturedNode.size).last)
            #expect(Pictures.psnr(last, Pictures.patternLuma(value: 100, size: CapturedNode.size)) > 35)
            #expect(recorder.units.count { $0.flags.contains(.key) } == 1, "the change from memory needs no keyframe")
        }

        @Test("make way for memory while there is a session that cannot import them, and come back after it")
        func otherSession() async throws {
            let node = try CapturedNode()
            defer { node.end() }
            let importing = node.addSession(1, encoder: "mapping")
            try await node.waitForImports(20)

            let other = node.addSession(2, encoder: "x264")
            try await node.waitForLive(30, other)
            let importsBefore = node.log.imports.count
            try await node.waitForLive(30, importing)
            #expect(node.log.imports.count == importsBefore, "frames are in memory")
            let figures = node.screen.heartbeat(linkQueuedBytes: 0, linkDrops: [:]).sessions
            let skipped = try #require(figures.first { $0.session == 2 }).counters.errors
            #expect(skipped >= 1, "the newest frame, which it began with, was in a DMA-BUF")

            node.screen.removeSession(2)
            try await node.waitForImports(20)
            for recorder in [importing, other] {
                let counters = try node.counters(recorder)
                #expect(!counters.contains(nil) && counters.compactMap(\.self) == counters.compactMap(\.self).sorted())
            }
        }

        @Test("are not asked for by a session that needs borders")
        func borders() async throws {
            let node = try CapturedNode()
            defer { node.end() }
            let recorder = node.addSession(1, encoder: "mapping", size: RequestedSize(width: 320, height: 320))
            try await node.waitForLive(30, recorder)
            #expect(!node.screen.demand.value.takesDMABuf && node.log.imports.isEmpty)
        }

        @Test("are given up for the session's life when an import fails, and the session goes on from memory")
        func failedImport() async throws {
            let node = try CapturedNode(log: ImportLog { $0 == 10 })
            defer { node.end() }
            let recorder = node.addSession(1, encoder: "mapping")
            try await node.waitForImports(11)
            try await node.waitForLive(40, recorder)
            #expect(node.log.imports.count == 11 && !node.screen.demand.value.takesDMABuf)
            #expect(recorder.failures == 0)
            let counters = try node.counters(recorder)
            #expect(!counters.contains(nil))
        }
    }
}
