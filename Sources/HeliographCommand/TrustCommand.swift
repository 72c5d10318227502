import Access
import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct TrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust",
        abstract: "Trusts certificates of relays that no authority has signed.",
        discussion: """
            A relay's log, and `heliograph status` on its machine, show the fingerprint to compare:
              heliograph trust add https://wall:8420
              heliograph trust list
              heliograph trust remove https://wall:8420
              heliograph trust move https://192.168.1.7:8420 https://192.168.1.20:8420
            From then on, no other certificate of that relay is accepted. At a terminal, each command asks by itself when it
            meets a relay for the first time.
            """,
        subcommands: [
            AddTrustCommand.self, ListTrustCommand.self, RemoveTrustCommand.self, MoveTrustCommand.self,
        ]
    )
}

struct AddTrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Trusts the certificate that a relay shows, once you have confirmed it."
    )

    @OptionGroup var place: TrustedRelay

    @Option(
        help: ArgumentHelp(
            "The fingerprint that the certificate must have. Nothing is asked then.",
            valueName: "sha256"
        )
    )
    var fingerprint: String?

    @Flag(help: "Trusts whatever certificate the relay shows now, without asking: for a network that you trust.")
    var first = false

    func validate() throws {
        if let fault = RelayTarget.fault(url: place.url, fingerprint: fingerprint) { throw ValidationError(fault) }
        if first, fingerprint != nil { throw ValidationError("give either --first or --fingerprint") }
    }

    func run() async throws {
        try await CommandError.reporting {
            let relay = try place.target()
            let shown = try await CertificateFingerprint.shown(by: relay.url).fingerprint
            if let fingerprint {
                guard Fingerprint(fingerprint) == shown else {
                    throw CommandError.failed(
                        "the relay at \(relay.url) shows another certificate, with the fingerprint \(shown.text)"
                    )
                }
            } else if try !first && FirstUse.known().entry(of: relay) == nil {
                guard FirstUse.canAsk else {
                    throw CommandError.failed("nobody can be asked here: give --fingerprint, or --first")
                }
                try FirstUse.confirm(shown, of: relay)
            }
            // Refuses another certificate of a relay that is trusted already.
            try FirstUse.keep(shown, of: relay)
            print("\(relay.url) is trusted by its certificate \(shown.text)")
        }
    }
}

struct ListTrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the relays that you trust: address, fingerprint, since when."
    )

    func run() async throws {
        try await CommandError.reporting {
            for entry in try FirstUse.known().entries() {
                print("\(entry.relay)\t\(entry.fingerprint)\t\(entry.since.apiText)")
            }
        }
    }
}

struct RemoveTrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Trusts a relay's certificate no longer."
    )

    @OptionGroup var place: TrustedRelay

    func run() async throws {
        try await CommandError.reporting {
            let relay = try place.target()
            guard try FirstUse.known().remove(relay) else {
                throw CommandError.failed(
                    "no certificate of \(relay.url) is trusted: `heliograph trust list` shows which are"
                )
            }
        }
    }
}

struct MoveTrustCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Trusts a relay at another address, if it shows the same certificate there.",
        discussion: "What you have paired with stays paired. `heliograph discover` shows where relays are."
    )

    @OptionGroup var place: TrustedRelay

    @Argument(help: ArgumentHelp("Its new address, with https://.", valueName: "new-url"))
    var newURL: String

    func validate() throws {
        if let fault = RelayTarget.fault(url: newURL, fingerprint: nil) { throw ValidationError(fault) }
    }

    func run() async throws {
        try await CommandError.reporting {
            let (relay, moved) = (try place.target(), try RelayTarget(url: newURL, fingerprint: nil, key: nil))
            let shown = try await CertificateFingerprint.shown(by: moved.url).fingerprint
            try FirstUse.known().move(relay, to: moved, showing: shown)
            print("\(moved.url) is trusted by its certificate \(shown.text)")
        }
    }
}

/// The relay whose certificate a command is about.
struct TrustedRelay: ParsableArguments {
    @Argument(help: ArgumentHelp("The relay's address, with https://.", valueName: "url"))
    var url: String

    func validate() throws {
        if let fault = RelayTarget.fault(url: url, fingerprint: nil) { throw ValidationError(fault) }
    }

    func target() throws(RelayError) -> RelayTarget { try RelayTarget(url: url, fingerprint: nil, key: nil) }
}
