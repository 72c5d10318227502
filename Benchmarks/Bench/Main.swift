import ArgumentParser
import Foundation
import TestSupport

@main
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures what a capture agent costs beside the limit: a bare loop of the same libraries.",
        discussion: "Reports only. docs/performance.md says what the figures are."
    )

    @Flag(help: "The agent against the limit loop, 1280x720 at 30 pictures a second. There is nothing else yet.")
    var quick = false

    @Option(help: "How often each is measured, in turns.")
    var rounds = 5

    @Option(help: "Length of each measurement, s.")
    var seconds = 5

    @Flag(help: "Leave the still screen out.")
    var movingOnly = false

    func validate() throws {
        guard quick else { throw ValidationError("Give --quick.") }
        guard rounds > 0, seconds > 0 else { throw ValidationError("--rounds and --seconds take 1 or more.") }
    }

    func run() async throws {
        let workload = Workload(seconds: seconds)
        let bench = try await AgentBench(workload)
        defer { bench.end() }
        var comparison = Comparison()
        for round in 1...rounds {
            FileHandle.standardError.write(Data("bench: round \(round) of \(rounds)\n".utf8))
            bench.move()
            comparison.add(try await bench.moving())
            if !movingOnly { comparison.addMovingIdle(try await bench.idle()) }
            bench.holdStill()
            comparison.add(try LimitLoop.run(.own, workload), .own)
            comparison.add(try LimitLoop.run(.libyuv, workload), .libyuv)
            if movingOnly { continue }
            comparison.addIdle(try await bench.idle())
            comparison.add(try LimitLoop.run(.still, workload), .still)
            comparison.add(try LimitLoop.run(.packets, workload), .packets)
            bench.move()
            comparison.addStill(try await bench.still())
        }
        print(comparison.report(workload))
    }
}
