import Foundation
import Glibc
import TestSupport
import Testing

/// The exit statuses of one program.
struct ExitStatuses: Sendable, CustomTestStringConvertible {
    static let all = [
        ExitStatuses(
            program: "heliograph",
            sources: ["HeliographCommand", "CommandSupport"],
            unnamed: [0, 1, EX_USAGE]
        ),
        ExitStatuses(
            program: "heliograph-view",
            sources: ["ViewerCommand", "CommandSupport"],
            unnamed: [0, 1, EX_USAGE]
        ),
        ExitStatuses(program: "heliograph-relay", sources: ["RelayCommand"], unnamed: [0, 1]),
        ExitStatuses(program: "capture-agent", sources: ["CaptureAgentCommand"], unnamed: [0, EX_USAGE]),
    ]

    /// The constants of sysexits.h that sources may name.
    private static let constants = [
        "EX_USAGE": EX_USAGE, "EX_UNAVAILABLE": EX_UNAVAILABLE, "EX_SOFTWARE": EX_SOFTWARE, "EX_OSERR": EX_OSERR,
        "EX_TEMPFAIL": EX_TEMPFAIL, "EX_NOPERM": EX_NOPERM,
    ]

    let program: String
    /// The folders of its sources.
    let sources: [String]
    /// Statuses that sources do not name: success, any error, and wrong arguments, which ArgumentParser reports.
    let unnamed: Set<Int32>

    var testDescription: String { program }

    /// The statuses that Deploy/manual/sections.json lists, from which the manual pages and the reference are made.
    func documented() throws -> Set<Int32> {
        struct Sections: Decodable {
            struct Entry: Decodable { let status: Int32 }
            let exitStatus: [Entry]?
        }
        let file = Programs.repository.appendingPathComponent("Deploy/manual/sections.json")
        let sections = try JSONDecoder().decode([String: Sections].self, from: Data(contentsOf: file))
        return Set(sections[program]?.exitStatus?.map(\.status) ?? [])
    }

    /// The statuses that the program's sources name, and those that they do not need to.
    func named() throws -> Set<Int32> {
        let files = try sources.flatMap { source in
            let folder = Programs.repository.appendingPathComponent("Sources/\(source)")
            return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        }
        var statuses = unnamed
        for file in files where file.pathExtension == "swift" {
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: /\bEX_[A-Z]+/) {
                // An unknown constant gets -1, which no page documents.
                statuses.insert(Self.constants[String(match.output)] ?? -1)
            }
        }
        return statuses
    }
}
