import ArgumentParser
import HeliographAPI

/// The options of commands that control a device through the WebSocket of a session.
struct ControlTarget: ParsableArguments {
    @OptionGroup var options: RelayOptions

    @Option(
        help: ArgumentHelp(
            "The session to watch meanwhile, by its id or name. Default: the session that the device's viewers share.",
            valueName: "session"
        ),
        completion: .custom(Completions.sessions)
    )
    var session: String?

    @Flag(help: "Takes the device from another controller at once.")
    var take = false

    /// Connects to the session, and runs `body` with what the relay sends until it returns.
    ///
    /// - Throws: ``CommandError``
    func connect(_ body: (SessionSocket, AsyncStream<SessionSocket.Message>) async throws -> Void) async throws {
        try await RelayClient.with(options.address) { client in
            try await SessionSocket.with(sessionID(client), at: options.address, body)
        }
    }

    private func sessionID(_ client: RelayClient) async throws -> UInt32 {
        if let id = session.flatMap(UInt32.init) { return id }
        let device = try await client.device(options.device)
        let address = session.map { SessionAddress.named($0, device: device) } ?? .shared(device: device)
        return try await address.report(client).id
    }
}
