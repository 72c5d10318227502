import ArgumentParser
import CommandSupport
import FoundationEssentials
import Program
import Wire

struct DoctorCommand: AsyncParsableCommand {
    /// The output of --json.
    private struct Report: Encodable {
        let healthy: Bool
        let findings: [Finding]
    }

    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks what broadcasts need, and says how to fix what is missing.",
        discussion: """
            Run it in the desktop's session, as the user whose screen it is. It asks nobody anything and captures nothing.

            Exit codes: 0 when no check fails, whatever is warned of; 1 when one fails.
            """
    )

    @OptionGroup var options: RelayOptions

    @Option(
        help: ArgumentHelp(
            "The capture-agent to ask about the desktop. Default: beside this executable, else in PATH.",
            valueName: "path"
        )
    )
    var agent: String?

    @Option(help: "The device's input in the relay's configuration: auto, portal, uinput or off. Default: auto.")
    var input: InputChoice?

    @Flag(help: "Prints the findings as JSON.")
    var json = false

    func run() async throws {
        let desktop = AgentDiagnosis(executable: agent, device: options.device, input: input)
        async let desktopFindings = desktop.findings()
        let findings = await RelayDiagnosis(address: options.address).findings() + desktopFindings
        let report = Report(healthy: !findings.contains { $0.verdict == .failure }, findings: findings)
        if json {
            print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        } else {
            for finding in findings { print(Self.text(of: finding)) }
        }
        guard report.healthy else { throw ExitCode(1) }
    }

    /// Returns a finding's line, and one more if there is something to do.
    private static func text(of finding: Finding) -> String {
        let verdict = finding.verdict.rawValue
        let line = verdict + String(repeating: " ", count: 9 - verdict.count) + "\(finding.check): \(finding.statement)"
        return finding.advice.map { "\(line)\n         -> \($0)" } ?? line
    }
}

extension InputChoice: ExpressibleByArgument {}
