import ArgumentParser
import Foundation
import TestSupport

/// Measures the cost of calls that wait for pixels of a screen that changes 30 times a second.
struct WaitsPart: Part {
    static let name = "waits"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "The agent's CPU with no, 1 and 64 waits for pixels of one device, at 30 changes a second.",
        discussion: """
            A PipeWire node of 1280x720 changes all over the picture. No session is encoded. Of the waits, half are for a \
            static region of 200x100 with a part that is ignored, half for a template of 64x64; none comes true.
            """
    )

    private static let counts = [0, 1, 64]
    private static let size = (width: 1280, height: 720)
    private static let region = (width: 200, height: 100)
    private static let template = "square"
    private static let side = 64
    /// Within the cell of the counter's bit 3 (CCounterPattern).
    private static let cell = (x: 1085, y: 22)

    @OptionGroup var options: Options

    static func measure(_ options: Options) async throws {
        let store = try Store(name, in: options.resultsFolder)
        let workloads = counts.map { "waits-\($0)" }
        for round in 1...options.rounds {
            let due = zip(counts, workloads).filter { _, workload in
                options.wants(workload, among: workloads) && !store.has(workload, "heliograph", round)
            }
            guard !due.isEmpty else { continue }
            let scene = try await NodeScene(isStill: false)
            defer { scene.end() }
            let device = "http://127.0.0.1:\(scene.relay.httpPort)/v1/devices/default"
            try curl("-X", "PUT", "-d", #"{"onDemand":true}"#, "\(device)/sessions/waits")
            let image = scene.desktop.directory.appendingPathComponent("square.png")
            try Data(PNG.make(width: side, height: side) { _, _ in (255, 0, 255, 255) }).write(to: image)
            try curl("-X", "PUT", "--data-binary", "@\(image.path)", "\(device)/templates/\(template)")
            try Data(PNG.make(width: 16, height: 16) { _, _ in (255, 255, 255, 255) }).write(to: image)
            try curl("-X", "PUT", "--data-binary", "@\(image.path)", "\(device)/templates/cell")
            for (count, workload) in due {
                try await store.measure(workload, "heliograph", round) {
                    try await measure(count, scene, "\(device)/sessions/waits/wait", seconds: max(10, options.seconds))
                }
            }
        }
    }

    private static func measure(_ count: Int, _ scene: NodeScene, _ url: String, seconds: Int) async throws
        -> [String: Double]
    {
        let waits = count == 0 ? nil : try start(count, url, seconds: seconds)
        defer { if let waits, waits.isRunning { waits.terminate() } }
        try await Task.sleep(for: .seconds(2))
        let (agent, relay, before) = (try Meter([scene.agent]), try Meter([scene.relay.pid]), try await frames(scene))
        try await Task.sleep(for: .seconds(seconds))
        let (agentUsed, relayUsed, after) = (agent.read(), relay.read(), try await frames(scene))
        if let waits, !waits.isRunning { throw BenchError(description: "a wait ended before its time") }
        var values = [
            "agent cpu ms/s": agentUsed.cpu / agentUsed.seconds, "relay cpu ms/s": relayUsed.cpu / relayUsed.seconds,
            "changes/s": (after - before) / agentUsed.seconds,
        ]
        // No wait of the measurement above comes true.
        let answers = Samples(try await answerTimes(scene))
        values["answer p50 ms"] = answers.quantile(0.5)
        values["answer p99 ms"] = answers.quantile(0.99)
        return values
    }

    /// From the capture of a frame that shows a template, or no longer does, to the answer, ms. A cell of the counter
    /// turns white and black in turns, for eight frames each.
    private static func answerTimes(_ scene: NodeScene) async throws -> [Double] {
        var times: [Double] = []
        for number in 0..<100 {
            let until = number.isMultiple(of: 2) ? "matches" : "gone"
            let answer = try await scene.relay.get(
                "/v1/devices/default/sessions/waits/wait?until=\(until)&template=cell&at=\(cell.x),\(cell.y)&tolerance=40"
            )
            guard answer.string("outcome") == "happened", let time = answer["staticMs"] as? NSNumber else {
                throw BenchError(description: "a wait for a cell: \(answer)")
            }
            times.append(time.doubleValue)
        }
        // The first wait may have come true earlier.
        return Array(times.dropFirst())
    }

    private static func frames(_ scene: NodeScene) async throws -> Double {
        let heartbeat = try await scene.relay.get("/screencapture/broadcast").object("heartbeat")
        return Double(heartbeat.integer("framesReceived"))
    }

    /// One program that makes all the calls.
    private static func start(_ count: Int, _ url: String, seconds: Int) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = [
            "--silent", "--no-progress-meter", "--parallel", "--parallel-immediate", "--parallel-max", "\(count)",
        ]
        for number in 0..<count {
            let x = number * 37 % (size.width - region.width), y = number * 53 % (size.height - region.height)
            let what =
                number.isMultiple(of: 2)
                ? "until=static&for=600&region=\(x),\(y),\(region.width),\(region.height)&ignore=\(x),\(y),40,20"
                : "until=matches&template=\(template)&at=\(x),\(y)"
            process.arguments? += ["--output", "/dev/null", "\(url)?\(what)&timeout=\(seconds + 30)"]
        }
        process.standardInput = FileHandle.nullDevice
        try Programs.start(process)
        return process
    }

    private static func curl(_ arguments: String...) throws {
        _ = try Tool.run("/usr/bin/curl", ["--silent", "--show-error", "--fail", "--output", "/dev/null"] + arguments)
    }
}
