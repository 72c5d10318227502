import ArgumentParser
import Foundation
import TestSupport

@main
struct Soak: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Lets things go wrong on a real desktop, and tells what a viewer saw of it.",
        discussion:
            "Exit status 1 when a viewer saw a broken picture, lost its connection (killed relays aside), or something did "
            + "not come back. docs/reliability.md has reports, and says what the columns are."
    )

    @Flag(help: "All faults, several times each, and 1,000 sessions.")
    var matrix = false

    @Flag(help: "All faults once.")
    var quick = false

    @Option(help: "Random faults for so long.")
    var minutes: Double?

    @Option(help: "Which random faults.")
    var seed: UInt64 = 1

    @Option(help: "Only faults whose names contain this.")
    var only: String?

    @Option(help: "How often each fault of the matrix happens, instead of 3 to 50 times.")
    var repetitions: Int?

    @Option(help: ArgumentHelp("Where the report goes beside standard output.", valueName: "path"))
    var report: String?

    func validate() throws {
        guard [matrix, quick, minutes != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("Give one of --matrix, --quick and --minutes.")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        var text: String
        let isGood: Bool
        if let minutes {
            (text, isGood) = try await RandomRun(minutes: minutes, seed: seed, faults: chosen(Fault.all)).run()
        } else {
            (text, isGood) = try await MatrixRun(
                faults: chosen(Fault.all),
                repetitions: quick ? 1 : repetitions,
                sessions: sessions
            ).run()
        }
        text += "\n"
        print(text, terminator: "")
        if let report { try text.write(toFile: report, atomically: true, encoding: .utf8) }
        if !isGood { throw ExitCode.failure }
    }

    /// How many sessions are started and stopped at the end.
    private var sessions: Int { quick || only != nil && only != "sessions" ? 0 : 1_000 }

    private func chosen(_ faults: [Fault]) -> [Fault] {
        faults.filter { fault in only.map { fault.name.contains($0) } ?? true }
    }
}

/// Tells on standard error how far a run is.
func tell(_ text: String) { FileHandle.standardError.write(Data("soak: \(text)\n".utf8)) }
