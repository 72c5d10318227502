import ArgumentParser
import TestSupport

/// Measures how old a decoded picture is at a viewer, and the stages of its way.
struct LatencyPart: Part {
    static let name = "latency"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "From the client's drawing to the decoded picture at a viewer over TCP, and by stage.",
        discussion:
            "1280x720 and 1920x1080 at 30 and 60 pictures a second, text that scrolls; each measurement takes three times --seconds."
    )

    @OptionGroup var options: Options

    static func measure(_ options: Options) async throws {
        let workloads = Workload.sizes.flatMap { size in
            Workload.rates.map { Workload(size: size, fps: $0, scene: .scroll, seconds: 3 * options.seconds) }
        }
        try await CPUPart.measure(workloads, options, store: Store(name, in: options.resultsFolder), hasStages: true)
    }
}
