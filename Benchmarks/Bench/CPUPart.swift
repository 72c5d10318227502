import ArgumentParser
import TestSupport

/// CPU per picture of all contenders, side by side.
struct CPUPart: Part {
    static let name = "cpu"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract:
            "CPU per picture of Heliograph, GStreamer, wf-recorder, ffmpeg and the limit loop, with their quality.",
        discussion: "1280x720 and 1920x1080 at 30 and 60 pictures a second: still, typing, scroll and motion."
    )

    @OptionGroup var options: Options

    static func measure(_ options: Options) async throws {
        let workloads = Workload.sizes.flatMap { size in
            Workload.rates.flatMap { fps in
                Workload.Scene.compared.map { Workload(size: size, fps: fps, scene: $0, seconds: options.seconds) }
            }
        }
        try await measure(workloads, options, store: Store(name, in: options.resultsFolder))
    }

    /// All contenders in each workload, in turns.
    static func measure(
        _ workloads: [Workload],
        _ options: Options,
        store: Store,
        hasStages: Bool = false
    ) async throws {
        let names = workloads.map(\.name), contenders = Contender.allCases.map(\.rawValue)
        for size in Workload.sizes {
            let wanted = workloads.filter { $0.size == size && options.wants($0.name, among: names) }
            let due = wanted.flatMap { workload in
                (1...options.rounds).flatMap { round in
                    Contender.all(for: workload.scene).filter {
                        options.wants($0.rawValue, among: contenders) && !store.has(workload.name, $0.rawValue, round)
                    }.map { (workload, round, $0) }
                }
            }
            guard !due.isEmpty else { continue }
            let stage = try await Stage(size)
            defer { stage.end() }
            let contest = Contest(stage: stage)
            for (workload, round, contender) in due {
                try await store.measure(workload.name, contender.rawValue, round) {
                    try await contest.measure(contender, workload, hasStages: hasStages)
                }
            }
        }
    }
}
