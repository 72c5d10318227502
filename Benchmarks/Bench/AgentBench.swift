import Foundation
import Glibc
import Media
import TestSupport

/// A capture agent in a desktop of its own, with a PipeWire node that draws the counter and a relay.
final class AgentBench {
    private static let producer = "bench"

    private let workload: Workload
    private let desktop: Desktop
    private let relay: RelayProcess
    private let clock: ProcessClock
    /// The producer's process.
    private let painter: Int32

    init(_ workload: Workload) async throws {
        self.workload = workload
        desktop = try Desktop(.none)
        do {
            try desktop.startNode(
                Self.producer,
                size: workload.size.description,
                fps: workload.fps,
                buffers: ["--tell"]
            )
            relay = try await RelayProcess(in: desktop)
            let source: RelayProcess.Object = ["kind": "node", "node": Self.producer]
            let started = try await relay.post("/screencapture/broadcast/start", ["timeout": 30, "source": source])
            clock = try ProcessClock(pid: Int32(started.object("agent").integer("pid")))
            guard let painter = desktop.processes(running: "counter-node").first else {
                throw BenchError(description: "the producer is gone")
            }
            self.painter = painter
        } catch {
            desktop.end()
            throw error
        }
    }

    /// Stops the producer between measurements, so that it uses no processor time. The screen is static then.
    func holdStill() { kill(painter, SIGSTOP) }

    func move() { kill(painter, SIGCONT) }

    func end() {
        move()
        relay.terminate()
        desktop.end()
    }

    /// CPU time in a second without a session, ms.
    func idle() async throws -> Double {
        let before = clock.used
        try await Task.sleep(for: .seconds(workload.seconds))
        return Double(clock.used - before) / 1e6 / Double(workload.seconds)
    }

    /// Measures the cost of a moving session, and its latency from the producer's stamp to the last byte at the viewer.
    func moving() async throws -> [String: Double] {
        try await withSession { id, viewer in
            try await wait(for: workload.fps, more: viewer)
            let encodedBefore = try await encodeTime(id)
            let (firstPicture, cpuBefore) = (viewer.pictures.count, clock.used)
            try await Task.sleep(for: .seconds(workload.seconds))
            let (pictures, cpu) = (viewer.pictures, clock.used - cpuBefore)
            let encoded = try await encodeTime(id)
            let latencies = Samples(try latencies(of: pictures).map { Double($0) / 1e6 })
            return [
                "cpu ms/picture": Double(cpu) / 1e6 / Double(pictures.count - firstPicture),
                "latency p50 ms": latencies.quantile(0.5), "latency p99 ms": latencies.quantile(0.99),
                "encode mean ms": (encoded.ms - encodedBefore.ms) / Double(encoded.pictures - encodedBefore.pictures),
            ]
        }
    }

    /// Measures the CPU time per second of a session on a settled screen, and how many pictures the encoder made.
    func still() async throws -> [String: Double] {
        try await withSession { id, viewer in
            try await wait(for: workload.fps, more: viewer)
            holdStill()
            // Wait until nothing needs the encoder: some repeats to settle, one keyframe to send again.
            _ = try await eventually("the picture to settle") {
                let agent = try await relay.get("/screencapture/\(id)").object("counters").object("agent")
                return agent.integer("skipped") > 2 * workload.fps ? true : nil
            }
            let (before, encoded) = (clock.used, try await encodeTime(id).pictures)
            try await Task.sleep(for: .seconds(workload.seconds))
            let cpu = Double(clock.used - before) / 1e6 / Double(workload.seconds)
            return ["cpu ms/s": cpu, "encoded": Double(try await encodeTime(id).pictures - encoded)]
        }
    }

    private func withSession<Result>(
        _ body: (_ id: Int, _ viewer: ScrcpyViewer) async throws -> Result
    ) async throws -> Result {
        let session = try await relay.startSession([
            "width": workload.size.width, "height": workload.size.height, "fps": workload.fps,
            "bitrate": workload.bitrate, "framing": "scrcpy",
        ])
        let id = session.integer("id")
        let viewer = try ScrcpyViewer(port: session.integer("port"))
        let result = try await body(id, viewer)
        viewer.hangUp()
        try await relay.post("/screencapture/\(id)/stop")
        return result
    }

    private func wait(for count: Int, more viewer: ScrcpyViewer) async throws {
        let goal = viewer.pictures.count + count
        _ = try await eventually("\(goal) pictures") { viewer.pictures.count >= goal ? true : nil }
    }

    /// The encoder's pictures, as of the last heartbeat.
    private func encodeTime(_ id: Int) async throws -> (ms: Double, pictures: Int) {
        let agent = try await relay.get("/screencapture/\(id)").object("counters").object("agent")
        let pictures = ["encodedLive", "refined", "reencodedRepeats"].reduce(0) { $0 + agent.integer($1) }
        return ((agent.object("encodeTimes")["sumMs"] as? NSNumber)?.doubleValue ?? 0, pictures)
    }

    /// Returns how long each picture took from the producer's stamp, which its counter finds in the producer's output.
    private func latencies(of pictures: [ScrcpyViewer.Picture]) throws -> [Int64] {
        let log = desktop.directory.appendingPathComponent("logs/producer-\(Self.producer).log")
        let stamps = Dictionary(
            try String(contentsOf: log, encoding: .utf8).split(separator: "\n").compactMap { line -> (Int, Int64)? in
                let words = line.split(separator: " ")
                guard words.count == 2, let value = Int(words[0]), let stamp = Int64(words[1]) else { return nil }
                return (value, stamp)
            },
            uniquingKeysWith: { _, later in later }
        )
        let size = PictureSize(width: 320, height: 180)
        let decoded = try FFmpeg.decodeLuma(h264: pictures.flatMap(\.bytes), size: size)
        let values = decoded.map { Pictures.counter(luma: $0, size: size) }
        var seen: Set<Int> = []
        return zip(pictures, values).compactMap { picture, value in
            // A repeat shows an earlier value.
            guard let value, seen.insert(value).inserted, let stamp = stamps[value] else { return nil }
            return picture.arrived - stamp
        }
    }
}
