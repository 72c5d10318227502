import Access
import ArgumentParser
import CommandSupport
import FoundationEssentials
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import Program
import UnixSignals

struct PairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pair",
        abstract: "Pairs this machine with a relay by a PIN: no key, and no fingerprint to compare.",
        discussion: """
            An operator arms a PIN where the relay can be called already, such as on its own machine:
              heliograph pair --arm --role controller
            Within two minutes, type it on the other machine:
              heliograph pair https://wall:8420
            From then on both recognize each other's certificates. A wrong PIN is burnt: arm another one.
            `heliograph keys list` shows who has paired, and `heliograph keys revoke` ends it.
            """
    )

    @Argument(help: ArgumentHelp("The relay's address, with https://. Default: that of --relay.", valueName: "url"))
    var url: String?

    @OptionGroup var address: RelayAddress

    @Option(help: "What the relay's lists and log call this client: \(String.nameRule). Default: this machine's name.")
    var name: String?

    @Flag(help: "Makes a PIN for one client, and waits for it. For operators.")
    var arm = false

    @OptionGroup(title: "Options of --arm") var armed: ArmOptions

    func validate() throws {
        if let fault = url.flatMap({ RelayTarget.fault(url: $0, fingerprint: address.fingerprint) }) {
            throw ValidationError(fault)
        }
        if arm, url != nil { throw ValidationError("--arm is for the relay of --relay: give no other address") }
        if arm, name != nil { throw ValidationError("--name is for the client, which gives it when it pairs") }
        if !arm, armed.isGiven {
            throw ValidationError("--role, --device, --library, --days and --digits go with --arm")
        }
        if let name, !name.isName { throw ValidationError("\(name) is not a name; allowed: \(String.nameRule)") }
    }

    func run() async throws {
        try await CommandError.reporting {
            if arm { try await armed.arm(at: address) } else { try await pair() }
        }
    }

    private func pair() async throws {
        let relay = try RelayTarget(url: url ?? address.url, fingerprint: address.fingerprint, key: nil)
        guard relay.isSecure else {
            throw CommandError.failed("\(relay.url) has no certificate to pair with: give an address with https://")
        }
        guard let file = RelayEnvironment.identityFile else {
            throw CommandError.failed("there is no home directory: set XDG_STATE_HOME")
        }
        let name = name ?? MachineName.asName
        let identity = try file.readOrMake(named: name)
        // Another certificate than the trusted one is an error, before a PIN is typed.
        let known = try FirstUse.known().entry(of: relay).flatMap { Fingerprint($0.fingerprint) }
        let shown = try await CertificateFingerprint.shown(by: relay.url)
        for trusted in [known, relay.pinned].compactMap(\.self) where trusted != shown.fingerprint {
            throw CommandError.failed(
                "the relay at \(relay.url) shows another certificate than the trusted one: an attacker may be in between, "
                    + "or the relay has a new one. If so, run `heliograph trust remove \(relay.url)` first"
            )
        }
        let paired = try await RelayClient.pair(
            relay.url,
            pin: try Self.typedPIN(),
            as: name,
            identity,
            trust: .pinned(shown)
        )
        try FirstUse.known().add(shown.fingerprint, of: relay, at: Date(), pairedAs: paired.name)
        let end = paired.expires.map { ", until \($0.formatted(.iso8601))" } ?? ""
        print("paired with \(relay.url) as \(paired.name), with the role \(paired.role)\(end)")
    }

    /// Reads the PIN from the terminal, or from standard input.
    private static func typedPIN() throws(CommandError) -> String {
        if isatty(STDIN_FILENO) == 1 { fputs("PIN: ", stderr) }
        guard let line = readLine(), PairingPIN(line.filter { !$0.isWhitespace }) != nil else {
            throw .failed("a PIN has \(PairingPIN.lengths.lowerBound) to \(PairingPIN.lengths.upperBound) digits")
        }
        return line.filter { !$0.isWhitespace }
    }
}

/// The options of `--arm`.
struct ArmOptions: ParsableArguments {
    @OptionGroup var terms: KeyTermsOptions

    @Option(help: ArgumentHelp("How many digits the PIN has, 4 to 8. Default: 6.", valueName: "count"))
    var digits: Int?

    func validate() throws {
        guard digits.map({ PairingPIN.lengths ~= $0 }) ?? true else { throw ValidationError("--digits is 4 to 8.") }
    }

    /// Whether any is given.
    var isGiven: Bool { terms.isGiven || digits != nil }

    /// Makes a PIN, and waits for what becomes of it. A signal ends both.
    func arm(at address: RelayAddress) async throws {
        var request = PairingRequest()
        request.digits = digits ?? PairingPIN.usualLength
        request.role = (terms.role ?? .viewer).rawValue
        request.devices = terms.device.isEmpty ? nil : terms.device
        request.library = terms.library.map { $0.inOrder.map(\.rawValue) }
        request.days = terms.days
        try await RelayClient.with(address) { [request] client in
            let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
            let armed = try await client.report(of: Routes.armPairing, request)
            print("\(armed.pin)")
            fputs(
                "Good for \(armed.seconds) s and one guess. On the other machine: heliograph pair https://…\n",
                stderr
            )
            fflush(stdout)
            let report = try await withThrowingTaskGroup(of: PairingReport?.self) { group in
                group.addTask {
                    for await _ in signals { return nil }
                    return nil
                }
                group.addTask { try await Self.end(of: client) }
                defer { group.cancelAll() }
                return try await group.next() ?? nil
            }
            // The client may have paired while the signal came.
            let end = if let report { report } else { try await client.report(of: Routes.disarmPairing) }
            try Self.tell(end)
        }
    }

    /// Waits until the PIN is no longer armed.
    private static func end(of client: RelayClient) async throws -> PairingReport {
        while true {
            let report = try await client.report(of: Routes.getPairing)
            guard PairingReport.State(rawValue: report.state)?.isOpen == true else { return report }
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    private static func tell(_ report: PairingReport) throws(CommandError) {
        switch PairingReport.State(rawValue: report.state) {
        case .paired: print("\(report.name ?? "a client") has paired")
        case .wrongPIN: throw .failed("a client did not know the PIN. It is burnt: arm another one")
        case .expired: throw .failed("no client has paired in time: arm another PIN")
        case .failed: throw .failed("a client knew the PIN, but was not kept: the relay's log says why")
        default: throw .failed("the PIN is no longer good: it was ended")
        }
    }
}
