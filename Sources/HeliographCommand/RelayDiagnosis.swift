import CommandSupport
import FoundationEssentials
import Glibc
import HeliographAPI
import HeliographClient
import NIOCore
import Program
import Wire

/// Checks whether a relay answers, what its broadcasts do, and whether a relay could start if none runs.
struct RelayDiagnosis {
    private static let answerTime = Duration.seconds(3)
    /// The default port for agents.
    private static let agentPort: UInt16 = 9300

    let address: RelayAddress

    private var url: String { address.url }

    /// Returns the findings, in the order in which they are printed.
    func findings() async -> [Finding] {
        do {
            _ = try address.caller.key()
        } catch {
            return [Self.finding(ofKey: "\(CommandError(error))")]
        }
        var findings: [Finding] = []
        do {
            try await RelayClient.with(address, asks: false) { client in
                let life = try await client.report(of: Routes.getLiveness, timeout: Self.answerTime)
                findings.append(release(life))
                let list = try await client.report(of: Routes.listBroadcasts, timeout: Self.answerTime)
                findings += list.broadcasts.map(Self.finding)
            }
        } catch let error as RelayError where error.kind == .unreachable {
            findings += absence
        } catch let error as RelayError where error.isWantOfKey {
            findings.append(Self.finding(ofKey: "\(CommandError(error))"))
        } catch let error as RelayError where [.untrusted, .badArgument].contains(error.kind) {
            findings.append(
                Finding(
                    "relay",
                    .failure,
                    "The relay was not asked: \(CommandError(error)).",
                    advice: error.kind == .untrusted
                        ? "`heliograph trust --help` says how certificates are trusted."
                        : "Correct that, and run the doctor again."
                )
            )
        } catch {
            findings.append(
                Finding(
                    "relay",
                    .failure,
                    "\(error)",
                    advice: "Another program may use the port. See the relay's log."
                )
            )
        }
        return findings
    }

    private func release(_ life: Liveness) -> Finding {
        guard life.release == Release.current else {
            return Finding(
                "relay",
                .warning,
                "The relay at \(url) has release \(life.release), this command has \(Release.current).",
                advice: "Restart the relay, or install the same release of both."
            )
        }
        return Finding("relay", .ok, "The relay at \(url) answers; release \(life.release).")
    }

    private static func finding(ofKey fault: String) -> Finding {
        Finding(
            "key",
            .failure,
            "The relay could not be asked about its broadcasts: \(fault).",
            advice: "Give one of the relay's keys: HELIOGRAPH_KEY, or a file with --key-file. "
                + "`heliograph keys` makes and lists them."
        )
    }

    private static func finding(of broadcast: BroadcastSummary) -> Finding {
        let device = broadcast.device
        let source = Summary.text(of: broadcast.source)
        switch (broadcast.state, broadcast.source.state) {
        case ("idle", _):
            return Finding("broadcast", .ok, "Device \(device) is not broadcast.")
        case ("live", "streaming"):
            return Finding("broadcast", .ok, "Device \(device) is live: \(source).")
        case ("live", "lost"), ("live", "paused"), ("away", _):
            return Finding(
                "broadcast",
                .failure,
                "Device \(device) is \(broadcast.state) and has no picture: \(source).",
                advice: "See the findings below, `heliograph status --device \(device)` and the relay's log."
            )
        case (let state, let sourceState):
            return Finding(
                "broadcast",
                .warning,
                "Device \(device) is \(state), its source \(sourceState ?? "not there yet"): \(source)."
            )
        }
    }

    // MARK: Where none answers

    private var absence: [Finding] {
        let relay = Finding(
            "relay",
            .warning,
            "No relay answers at \(url).",
            advice:
                "Start one: heliograph-relay, or systemctl --user start heliograph-relay. --relay names another address, such as https://HOST:8420 of one with TLS."
        )
        guard let port = URLComponents(string: url)?.port.flatMap(UInt16.init(exactly:)),
            (try? address.target().isOfThisMachine) == true
        else { return [relay] }
        return [relay, Self.finding(ofPort: port), Self.finding(ofPort: Self.agentPort)]
    }

    private static func finding(ofPort port: UInt16) -> Finding {
        do {
            try LoopbackPort.bind(port)
            return Finding("ports", .ok, "Port \(port) is free for a relay.")
        } catch {
            return Finding(
                "ports",
                .failure,
                "Port \(port), which a relay needs, cannot be opened: \(error).",
                advice: "`ss -ltnp 'sport = :\(port)'` shows which program uses it: stop it, or give the relay another "
                    + "port with " + (port == agentPort ? "--agent-link." : "--http.")
            )
        }
    }
}
