import ArgumentParser
import CommandSupport
import Discovery
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient

struct DiscoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Finds relays in the local network.",
        discussion: """
            Relays that other machines can call announce themselves by multicast DNS, unless they have the setting hide. Both
            machines need the Avahi daemon. Each line has address, name, release, the certificate's fingerprint, and whether
            you trust it, maybe at a former address:
              heliograph discover
              heliograph trust add https://192.168.1.20:8420
              heliograph trust move https://192.168.1.7:8420 https://192.168.1.20:8420

            Anybody in the network can announce anything: compare the fingerprint with the relay's log before you trust it.
            """
    )

    @Option(name: .customLong("for"), help: ArgumentHelp("How long it looks, 1 to 60 s.", valueName: "seconds"))
    var time = 2

    @Flag(help: "Prints JSON, an object a line.")
    var json = false

    func validate() throws {
        guard 1...60 ~= time else { throw ValidationError("--for is 1 to 60 seconds.") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await CommandError.reporting {
            let browser = RelayBrowser()
            try? await Task.sleep(for: .seconds(time))
            let (relays, problem) = (browser.relays, browser.problem)
            browser.close()
            if let problem {
                throw CommandError.failed(
                    "cannot look for relays: \(problem). On Debian and Ubuntu: apt install avahi-daemon, or start it"
                )
            }
            guard !relays.isEmpty else {
                throw CommandError.failed(
                    "no relay has announced itself within \(time) s. Does it listen beyond loopback, and does Avahi run "
                        + "on its machine?"
                )
            }
            let known = try FirstUse.known().entries()
            for relay in relays {
                let report = FoundRelayReport(relay, known)
                print(json ? try JSONValue(encoding: report).text : report.text)
            }
        }
    }
}

/// A relay that was found, as JSON and as text.
struct FoundRelayReport: Encodable {
    let url: String
    let name: String
    let host: String
    let id: String
    let release: String
    let fingerprint: String
    let requiresPairing: Bool
    /// The address at which the user trusts a relay with this certificate; absent if it is not trusted.
    let trustedAt: String?

    /// - Parameter known: The relays that the user trusts.
    init(_ relay: FoundRelay, _ known: [KnownRelays.Entry]) {
        (url, name, host) = (relay.url, relay.name, relay.host)
        let announcement = relay.announcement
        (id, release, fingerprint) = (announcement.id, announcement.release, announcement.fingerprint)
        requiresPairing = announcement.requiresPairing
        let same = known.filter { $0.fingerprint.lowercased() == announcement.fingerprint.lowercased() }
        trustedAt = (same.first { $0.relay == relay.url } ?? same.first)?.relay
    }

    var text: String {
        let trust = trustedAt.map { $0 == url ? "trusted" : "trusted at \($0)" }
        return [url, name, release, fingerprint, trust].compactMap(\.self).joined(separator: "\t")
    }
}
