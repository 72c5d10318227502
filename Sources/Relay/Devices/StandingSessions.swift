import HeliographAPI
import Logging

/// The sessions that the configuration wants whenever the relay runs, as long as they do not exist.
@MediaLoop
final class StandingSessions {
    /// The missing sessions by device and name, each with why it could not be started; empty before the first try.
    private var missing: [String: [String: String]] = [:]
    private var isStarting = false
    /// Whether more are wanted since the last round of tries began.
    private var isDueAgain = false
    private let logger: Logger

    nonisolated init(logger: Logger) { self.logger = logger }

    /// Why a device does not have all its standing sessions; `nil` if it has.
    func obstacle(of device: String) -> String? {
        guard let (name, reason) = missing[device]?.min(by: { $0.key < $1.key }) else { return nil }
        return "device \(device) has no session \(name)" + (reason.isEmpty ? "" : ": \(reason)")
    }

    /// Notes the sessions that a device should have, if they are new or have other settings than `former` said.
    func want(_ sessions: [String: SessionRequest], of device: String, insteadOf former: [String: SessionRequest]) {
        var wanted = missing[device, default: [:]].filter { sessions[$0.key] != nil }
        for (name, request) in sessions where request != former[name] { wanted[name] = "" }
        missing[device] = wanted
    }

    /// Tries to start all that are missing, in the order of their names, and logs each new reason why one cannot be.
    ///
    /// - Parameter start: Starts or changes the session with a name on a device.
    func startMissing(_ start: @MediaLoop (_ name: String, _ device: String) async throws(SessionError) -> Void) async {
        isDueAgain = true
        guard !isStarting else { return }
        isStarting = true
        defer { isStarting = false }
        while isDueAgain {
            isDueAgain = false
            for (device, names) in missing.sorted(by: { $0.key < $1.key }) {
                for name in names.keys.sorted() { await tryToStart(name, of: device, start) }
            }
        }
    }

    private func tryToStart(
        _ name: String,
        of device: String,
        _ start: @MediaLoop (_ name: String, _ device: String) async throws(SessionError) -> Void
    ) async {
        do throws(SessionError) {
            try await start(name, device)
            missing[device]?[name] = nil
        } catch {
            let reason = Problem(error).detail
            if case .notChangeable = error {
                // It runs as it is. Only a stop would help, and its viewers come first.
                missing[device]?[name] = nil
                logger.error("device \(device): its session \(name) keeps its settings: \(reason)")
            } else if let known = missing[device]?[name], known != reason {
                missing[device]?[name] = reason
                logger.error("device \(device) has no session \(name): \(reason)")
            }
        }
    }
}
