import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import NIOCore
import Program

/// The options of commands that act on a device's desktop.
struct ActionTarget: ParsableArguments {
    @OptionGroup var options: RelayOptions

    @Option(
        help: ArgumentHelp(
            "The session whose snapshots have these coordinates: its id, or its name on the device. Default: the "
                + "session that the device's viewers share, or the device's only one.",
            valueName: "session"
        ),
        completion: .custom(Completions.sessions)
    )
    var session: String?

    @Flag(help: "Takes the device from another controller at once. By default, that needs 5 s without its actions.")
    var take = false

    @OptionGroup var format: AnswerFormat

    private var sessionID: UInt32? { session.flatMap(UInt32.init) }

    func validate() throws {
        guard let session, sessionID == nil, !session.isName || session.utf8.count > 64 else { return }
        throw ValidationError("'\(session)' is not a session's id or name: use \(String.nameRule).")
    }

    /// Makes one call after the other, and shows the relay's answers.
    ///
    /// - Parameter bodies: The calls' bodies, which this completes with the options.
    func perform(_ bodies: [JSONValue]) async throws {
        try await RelayClient.with(options.address) { client in
            let device = try await device(client)
            for body in bodies {
                let answer = try await client.answer(
                    to: Routes.act,
                    at: .device(device),
                    json: completed(body),
                    timeout: RelayClient.actionTime
                )
                try format.show(answer) { report in
                    "\(report.device): \(report.steps) step\(report.steps == 1 ? "" : "s") done at \(report.at)"
                }
            }
        }
    }

    /// Does one action of the short form.
    func perform(_ name: String, _ value: JSONValue) async throws {
        try await CommandError.reporting { try await perform([.object([.init(name: name, value: value)])]) }
    }

    /// Returns the device. An id is enough to know it.
    func device(_ client: RelayClient) async throws -> String {
        if options.device == nil, let sessionID {
            return try await client.report(of: Routes.getSession, at: SessionAddress.id(sessionID)).device
        }
        return try await client.deviceName(options.device)
    }

    /// Returns the request with the options. They replace members of the same name.
    private func completed(_ body: JSONValue) -> JSONValue {
        guard case .object(var members) = body else { return body }
        func set(_ name: String, _ value: JSONValue) {
            members.removeAll { $0.name == name }
            members.append(.init(name: name, value: value))
        }
        if let session { set("session", .string(session)) }
        if take { set("take", true) }
        return .object(members)
    }
}
