import Foundation
import TestSupport

/// Measures contenders on a stage, one at a time.
struct Contest {
    /// How long contenders may take to reach a steady state, and ours to settle on a static screen.
    private static let warmUp = Duration.seconds(1)
    private static let settling = Duration.seconds(4)

    let stage: Stage

    /// CPU time, pictures, quality and latency of one contender.
    ///
    /// - Returns: `pictures/s` and `changes/s` at the consumer, `cpu ms/s` and `cpu ms/picture` in user and kernel mode
    ///   of all its processes (with several processes, `cpu ms/s` also of each), `desktop cpu ms/s`,
    ///   `psnr dB`, `kbit/s`, `latency p50 ms` and `latency p99 ms` from the drawing to the decoded picture, and
    ///   `decode p50 ms`. With `hasStages` also those of ``Stages``.
    func measure(_ contender: Contender, _ workload: Workload, hasStages: Bool = false) async throws -> [String: Double]
    {
        if contender.isLimit { return try measureLimit(contender, workload) }
        let desktop = stage.desktop(of: contender)
        try desktop.restartClient([
            "--fps", String(workload.steps), "--scene", workload.drawn, "--stamps", stage.stampsFile(of: desktop).path,
        ])
        defer { try? desktop.pause() }
        let ours =
            contender == .heliograph ? try await RunningHeliograph(workload, on: desktop, relay: stage.relay) : nil
        let running: any Running
        if let ours { running = ours } else { running = try await RunningPeer(contender, workload, on: desktop) }
        do {
            let stages = hasStages && ours != nil ? try Stages(relay: stage.relay, session: ours!.session) : nil
            _ = try await eventually("pictures") { running.reader.count > 0 ? true : nil }
            try await Task.sleep(for: Self.warmUp)
            if workload.scene == .still {
                try desktop.pause()
                try await Task.sleep(for: Self.settling)
            }
            let processes = running.processes
            let own = try Meter(processes.map(\.pid)), compositor = try Meter(stage.compositor(of: contender))
            try await Task.sleep(for: .seconds(workload.seconds))
            let (used, composed) = (own.read(), compositor.read())
            try await Task.sleep(for: .milliseconds(200))
            if let stages { try await stages.encode() }
            await running.end()
            let stream = running.reader.end()
            let read = try PictureReader.read(stream.bytes, scene: workload.drawn)
            let stamps = try stage.stamps(of: desktop)
            var values = figures(of: read, stream, used, stamps)
            values["desktop cpu ms/s"] = composed.cpu / composed.seconds
            if processes.count > 1 {
                for (process, cpu) in zip(processes, used.each) {
                    values["\(process.name) cpu ms/s"] = cpu / used.seconds
                }
            }
            if let stages { values.merge(try stages.figures(from: used.begin, to: used.end, stamps: stamps)) { $1 } }
            return values
        } catch {
            await running.end()
            _ = running.reader.end()
            throw error
        }
    }

    private func figures(
        of read: PictureReader,
        _ stream: StreamReader.Stream,
        _ used: Meter.Reading,
        _ stamps: [Int: Int64]
    ) -> [String: Double] {
        var (seen, latencies, pictures, changes, decoding): (Set<Int>, Samples, Int, Int, Samples) = (
            [], Samples(), 0, 0, Samples()
        )
        for picture in read.pictures {
            guard let arrived = stream.arrival(of: picture.end) else { continue }
            let isNew = picture.value.map { seen.insert($0).inserted } ?? false
            guard arrived >= used.begin, arrived < used.end else { continue }
            pictures += 1
            decoding.append(Double(picture.decodeNs) / 1e6)
            guard isNew else { continue }
            changes += 1
            if let stamp = stamps[picture.value!] { latencies.append(Double(arrived + picture.decodeNs - stamp) / 1e6) }
        }
        let bytes = stream.pieces.last { $0.arrived < used.end }.map(\.end) ?? 0
        let before = stream.pieces.last { $0.arrived < used.begin }.map(\.end) ?? 0
        return [
            "pictures/s": Double(pictures) / used.seconds, "changes/s": Double(changes) / used.seconds,
            "cpu ms/s": used.cpu / used.seconds, "cpu ms/picture": used.cpu / Double(pictures),
            "psnr dB": read.psnr ?? .nan,
            "kbit/s": Double(bytes - before) * 8 / 1000 / used.seconds, "latency p50 ms": latencies.quantile(0.5),
            "latency p99 ms": latencies.quantile(0.99), "decode p50 ms": decoding.median,
        ]
    }

    private func measureLimit(_ contender: Contender, _ workload: Workload) throws -> [String: Double] {
        let variant: LimitLoop.Variant =
            workload.scene != .still ? .own : contender == .limitEncoding ? .still : .packets
        let folder = try Scratch()
        let file = folder.file("stream")
        let loop = try LimitLoop.run(variant, workload, output: file)
        let rate = Double(loop.pictures) / Double(workload.seconds)
        var values = [
            "pictures/s": rate, "cpu ms/s": loop.cpuPerPicture * rate, "cpu ms/picture": loop.cpuPerPicture,
            "kbit/s": Double(loop.bytes) * 8 / 1000 / Double(workload.seconds),
        ]
        guard variant == .own else { return values }
        let read = try PictureReader.read(file, scene: workload.drawn)
        // The loop's pictures start after its first second.
        let decoded = zip(loop.latencyNs, read.pictures.suffix(loop.pictures)).map { Double($0 + $1.decodeNs) / 1e6 }
        values["psnr dB"] = read.psnr
        values["latency p50 ms"] = Samples(decoded).quantile(0.5)
        values["latency p99 ms"] = Samples(decoded).quantile(0.99)
        return values
    }
}

/// The CPU time that processes use from its creation on.
struct Meter {
    struct Reading {
        /// Monotonic ns.
        var begin: Int64
        var end: Int64
        /// The CPU time of each process, ms.
        var each: [Double]
        /// The CPU time of all, ms.
        var cpu: Double { each.reduce(0, +) }
        var seconds: Double { Double(end - begin) / 1e9 }
    }

    private let clocks: [ProcessClock]
    private let used: [Int64]
    private let begin: Int64

    init(_ processes: [Int32]) throws {
        clocks = try processes.map(ProcessClock.init(pid:))
        used = clocks.map(\.used)
        begin = monotonicNow()
    }

    func read() -> Reading {
        Reading(begin: begin, end: monotonicNow(), each: zip(clocks, used).map { Double($0.used - $1) / 1e6 })
    }
}
