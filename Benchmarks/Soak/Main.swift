import ArgumentParser
import Foundation
import Synchronization
import TestSupport

@main
struct Soak: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Lets things go wrong on a real desktop, and tells what a viewer saw of it.",
        discussion:
            "Exit status 1 when a viewer saw a broken picture, lost its connection (killed relays aside), or something did "
            + "not come back. docs/design/reliability.md explains the columns."
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

    @Option(
        help: "How many minutes it may take in all; then it ends with what it has. 20, 120, or 10 more than --minutes."
    )
    var limit: Double?

    func validate() throws {
        guard [matrix, quick, minutes != nil].count(where: { $0 }) == 1 else {
            throw ValidationError("Give one of --matrix, --quick and --minutes.")
        }
        guard !chosen.isEmpty || sessions > 0 else { throw ValidationError("There is no such fault: \(only ?? "")") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let report = Report(title: title)
        let limit = limit ?? minutes.map { $0 + 10 } ?? (quick ? 20 : 120)
        let breakOff = BreakOff.watch(seconds: limit * 60 + 300) { why in
            report.leaveOut("what remained: broken off, \(why)")
            write(report)
            Course.standing.withLock { $0 }?.end()
        }
        defer { withExtendedLifetime(breakOff) {} }
        let course = try await Course(report: report)
        let isOver = { Double(report.seconds) > limit * 60 }
        do {
            if let minutes {
                try await RandomRun(minutes: minutes, seed: seed, faults: chosen).run(course, until: isOver)
            } else {
                let run = MatrixRun(faults: chosen, repetitions: quick ? 1 : repetitions, sessions: sessions)
                try await run.run(course, until: isOver)
            }
        } catch {
            report.leaveOut("what remained: \(error)")
        }
        course.end()
        write(report)
        if !report.isGood { throw ExitCode.failure }
    }

    private var title: String {
        let which = only.map { " of those with '\($0)' in their names" } ?? ""
        if let minutes { return "Random faults\(which) for \(minutes.formatted()) minutes, seed \(seed)" }
        return quick ? "Each fault\(which) once" : "The matrix\(which)"
    }

    private func write(_ report: Report) {
        FileHandle.standardOutput.write(Data(report.text.utf8))
        guard let path = self.report else { return }
        do {
            try report.text.write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            tell("the report cannot be written: \(error)")
        }
    }

    /// How many sessions are started and stopped at the end.
    private var sessions: Int { quick || only != nil && only != "sessions" ? 0 : 1_000 }

    private var chosen: [Fault] {
        Fault.all.filter { fault in only.map { fault.name.contains($0) } ?? (minutes == nil || !fault.isLong) }
    }
}

/// Reports progress on standard error.
func tell(_ text: String) { FileHandle.standardError.write(Data("soak: \(text)\n".utf8)) }
