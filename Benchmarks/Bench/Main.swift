import ArgumentParser

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures Heliograph beside what people would pick instead, and beside the limit.",
        discussion: """
            Reports only. docs/design/performance.md says what the figures are. Every measurement is kept in the folder of --results as soon as it is \
            made, and made once: a run that is broken off goes on where it was.
            """,
        subcommands: [
            CPUPart.self, LatencyPart.self, AgentPart.self, MemoryPart.self, SessionsPart.self, StartPart.self,
            SizePart.self, FanOutPart.self, WaitsPart.self, AllParts.self, ReportCommand.self, Load.self, Joins.self,
        ]
    )
}

/// One part of the benchmark.
protocol Part: AsyncParsableCommand {
    static var name: String { get }
    var options: Options { get }
    static func measure(_ options: Options) async throws
}

extension Part {
    func run() async throws { try await Self.measure(options) }
}

/// Every part, one after the other, and the report.
struct AllParts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "all", abstract: "All of these, and the report.")

    private static let parts: [any Part.Type] = [
        CPUPart.self, LatencyPart.self, AgentPart.self, MemoryPart.self, SessionsPart.self, StartPart.self,
        SizePart.self, FanOutPart.self, WaitsPart.self,
    ]

    @OptionGroup var options: Options

    func run() async throws {
        for part in Self.parts {
            // A part that cannot run here, for example because a peer is not installed, does not stop the others.
            do {
                try await part.measure(options)
            } catch {
                log("\(part.name): \(error)")
            }
        }
        try Report(results: options.resultsFolder).write()
    }
}

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Writes what the results say into docs/design/performance.md and docs/images."
    )

    @OptionGroup var options: Options

    func run() throws { try Report(results: options.resultsFolder).write() }
}
