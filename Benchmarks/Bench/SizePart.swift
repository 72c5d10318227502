import ArgumentParser
import Foundation
import TestSupport

/// Measures the programs' size and start-up time.
struct SizePart: Part {
    static let name = "size"
    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Size of binaries, and their start-up time."
    )

    @OptionGroup var options: Options

    static func measure(_ options: Options) async throws {
        let store = try Store(name, in: options.resultsFolder)
        let ours = ["heliograph-relay", "capture-agent", "heliograph"]
        for round in 1...options.rounds {
            for program in ours {
                try await store.measure("program", program, round) {
                    let (file, folder) = (Programs.product(program), try Scratch())
                    let stripped = folder.file(program)
                    guard try Programs.run(env, ["strip", "-o", stripped.path, file.path]).status == 0 else {
                        throw BenchError(description: "strip fails")
                    }
                    return [
                        "MiB": Double(try size(of: file)) / 1_048_576,
                        "MiB stripped": Double(try size(of: stripped)) / 1_048_576,
                        "start ms": try start(file.path, ["--version"]),
                    ]
                }
            }
            for (program, argument) in [
                ("gst-launch-1.0", "--version"), ("ffmpeg", "-version"), ("wf-recorder", "--version"),
            ] {
                try await store.measure("program", program, round) { ["start ms": try start(program, [argument])] }
            }
            try await store.measure("until it listens", "heliograph-relay", round) {
                let begin = monotonicNow()
                let relay = try await RelayProcess(arguments: ["--state-file", "none", "--session-port-base", "0"])
                defer { relay.terminate() }
                return ["start ms": Double(monotonicNow() - begin) / 1e6]
            }
        }
    }

    private static let env = URL(fileURLWithPath: "/usr/bin/env")

    private static func size(of file: URL) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)[.size] as? Int ?? 0
    }

    /// Returns the least time of some that a program takes to print its version, ms.
    private static func start(_ program: String, _ arguments: [String]) throws -> Double {
        var least = Double.infinity
        for _ in 0..<5 {
            let begin = monotonicNow()
            guard try Programs.run(env, [program] + arguments).status == 0 else {
                throw BenchError(description: "\(program) fails")
            }
            least = min(least, Double(monotonicNow() - begin) / 1e6)
        }
        return least
    }
}
