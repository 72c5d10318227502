import Access
import FoundationEssentials
import HeliographAPI
import Hummingbird
import Logging
import NIOPosix

/// How a client becomes one of those in the key file that are admitted by their certificates.
extension API {
    func addPairingRoutes(to routes: inout RouteTable) {
        routes.add(Routes.getPairing) { _, _, _ in report }
        routes.add(Routes.armPairing) { asked, request, context in
            guard tls != nil else {
                throw Problem(.noCertificate, "the relay does not use TLS, so clients cannot pair: start it with --tls")
            }
            guard let armer = context.caller.key else {
                throw Problem(
                    .noKeys,
                    "pairing needs keys, because the first client that pairs would make every call need one: make an operator's key first"
                )
            }
            let terms = try await grant(asked, by: request, context)
            let armed = pairing.arm(terms, length: asked.digits, by: armer, now: .now)
            var report = ArmedPairing()
            report.pin = armed.pin.text
            report.seconds = Int(Pairing.time.components.seconds)
            report.until = Self.date(of: armed.end).apiText
            return report
        }
        routes.add(Routes.disarmPairing) { _, _, _ in
            pairing.disarm(now: .now)
            return report
        }
        routes.add(Routes.sharePairing) { asked, _, context in
            let (client, relay) = try await certificates(context)
            guard let share = Hexadecimal.bytes(in: asked.share) else { throw Problem(Pairing.Refusal.noShare) }
            var answer = PairingAnswer()
            do {
                // On another thread, because it computes.
                answer.share = Hexadecimal.text(
                    of: try await NIOThreadPool.singleton.runIfActive {
                        try pairing.begin(share, from: client, to: relay, named: asked.name, now: .now)
                    }
                )
            } catch let refusal as Pairing.Refusal {
                throw Problem(refusal)
            }
            return answer
        }
        routes.add(Routes.provePairing) { asked, _, context in
            let (client, _) = try await certificates(context)
            let proved: Pairing.Proved
            do throws(Pairing.Refusal) {
                // A text that is not hexadecimal is a wrong code.
                let proof = Hexadecimal.bytes(in: asked.proof) ?? []
                proved = try pairing.confirm(proof, from: client, now: .now)
            } catch {
                if error == .wrongPIN {
                    Self.log(.warning, "a client did not know the PIN, which is burnt", context)
                }
                throw Problem(error)
            }
            let entry = try await keep(proved, client, context)
            context.audit.note("name", entry.name)
            var answer = PairedClient()
            answer.proof = Hexadecimal.text(of: proved.proof)
            (answer.name, answer.role) = (entry.name, entry.role.rawValue)
            answer.expires = entry.expires?.formatted(.iso8601)
            return answer
        }
    }

    /// Makes a client that knows the PIN one of the keys.
    private func keep(
        _ proved: Pairing.Proved,
        _ client: Fingerprint,
        _ context: RelayRequestContext
    ) async throws -> KeyRing.Entry {
        do {
            guard access.isGood(proved.armer) else { throw Problem(Pairing.Refusal.notArmed) }
            let entry = try await changeKeys(context) { ring throws(KeyFileError) in
                try ring.pair(client, named: proved.name, proved.terms, at: Date())
            }
            pairing.finish(proved, as: entry.name)
            Self.log(
                .notice,
                "a client has paired",
                context,
                [
                    "name": "\(entry.name)", "role": "\(entry.role.rawValue)", "fingerprint": "\(client.text)",
                    "armedBy": "\(proved.armer.name)",
                ]
            )
            return entry
        } catch {
            pairing.finish(proved, as: nil)
            Self.log(.error, "a client that knew the PIN was not kept: \(error)", context)
            throw error
        }
    }

    /// Logs what becomes of pairing: always, because each line costs an operator's PIN.
    private static func log(
        _ level: Logger.Level,
        _ message: String,
        _ context: RelayRequestContext,
        _ metadata: Logger.Metadata = [:]
    ) {
        let address: Logger.Metadata = ["address": "\(PeerAddress.text(of: context.peer.address))"]
        context.logger.log(level: level, "\(message)", metadata: address.merging(metadata) { $1 })
    }

    private var report: PairingReport {
        var report = PairingReport()
        let status = pairing.status(now: .now)
        report.state = Self.state(status?.outcome).rawValue
        if case .paired(let name) = status?.outcome { report.name = name }
        report.until = status?.end.map { Self.date(of: $0).apiText }
        return report
    }

    private static func state(_ outcome: Pairing.Outcome?) -> PairingReport.State {
        switch outcome {
        case nil: .nothing
        case .armed: .armed
        case .proved: .pairing
        case .paired: .paired
        case .wrongPIN: .wrongPIN
        case .expired: .expired
        case .cancelled: .cancelled
        case .failed: .failed
        }
    }

    private static func date(of instant: ContinuousClock.Instant) -> Date {
        Date() + TimeInterval((instant - .now) / .seconds(1))
    }

    /// Returns the client's certificate and the relay's.
    private func certificates(_ context: RelayRequestContext) async throws -> (client: Fingerprint, relay: Fingerprint)
    {
        guard let tls, let client = await context.channel.clientCertificate() else {
            throw Problem(
                .noCertificate,
                "to pair, a client shows a certificate over a direct TLS connection: call the relay by https://, not through a proxy or a tunnel"
            )
        }
        return (client, tls.description.fingerprint)
    }
}

extension Problem {
    fileprivate init(_ refusal: Pairing.Refusal) {
        switch refusal {
        case .notArmed:
            self.init(
                .pairingNotArmed,
                "no PIN is armed, or its two minutes are over: have the relay's operator run `heliograph pair --arm`"
            )
        case .busy:
            self.init(.pairingBusy, "a client is in the middle of pairing: try again in 20 s")
        case .noMemory: self.init(.internalError, "there is too little memory to pair")
        case .noShare:
            self.init(.badShare, "this is not the client's part of the exchange, or it came too late: begin again")
        case .wrongPIN:
            self.init(
                .wrongPIN,
                "the PIN is wrong, and nobody can use it any more: have the relay's operator arm another one"
            )
        }
    }
}
