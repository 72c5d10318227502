import Media
import TestSupport
import Testing

/// Tests of the whole system on real desktops. One test at a time in a process, because a desktop shares the machine.
@Suite("System", .serialized)
enum SystemTests {
    /// Runs `body` with a desktop and a relay that broadcasts it, and ends both afterwards.
    static func withBroadcast(
        of desktop: Desktop? = nil,
        source: RelayProcess.Object = ["kind": "portal"],
        _ body: (Desktop, RelayProcess) async throws -> Void
    ) async throws {
        let desktop = try desktop ?? Desktop()
        defer { desktop.end() }
        let relay = try await RelayProcess(in: desktop)
        defer { relay.terminate() }
        let started = try await relay.post("/screencapture/broadcast/start", ["timeout": 60, "source": source])
        #expect(started.object("source").string("state") == "streaming")
        try await body(desktop, relay)
    }

    static func viewer(of session: RelayProcess.Object) throws -> ScrcpyViewer {
        try ScrcpyViewer(port: session.integer("port"))
    }

    /// Waits for `count` more pictures.
    static func waitForPictures(_ count: Int, at viewer: ScrcpyViewer) async throws {
        let goal = viewer.pictures.count + count
        _ = try await eventually("\(goal) pictures") { viewer.pictures.count >= goal ? true : nil }
    }

    /// The counter values that a viewer's pictures show, in order; -1 for a picture that shows none.
    static func counters(_ viewer: ScrcpyViewer, size: PictureSize, source: PictureSize) throws -> [Int] {
        let fit = PictureFit(source: source, output: size)
        return try FFmpeg.decodeLuma(h264: viewer.stream, size: size).map {
            Pictures.counter(luma: $0, size: size, content: fit) ?? -1
        }
    }
}
