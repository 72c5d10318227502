import ArgumentParser
import CommandSupport
import HeliographClient
import UnixSignals

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

    /// Takes control of the device, and runs `body` until it returns, a signal comes, or control or the connection is
    /// lost.
    ///
    /// - Parameter heard: Gets what the relay says of the program's gamepad.
    /// - Throws: ``RelayError``, ``CommandError``, and what the functions throw.
    func control(
        heard: @escaping @Sendable (GamepadStatus) throws -> Void = { _ in },
        _ body: @escaping @Sendable (LiveSession) async throws -> Void
    ) async throws {
        let claim = ControlClaim(device: options.device, session: session, takes: take)
        try await RelayClient.with(options.address) { client in
            let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in signals { return } }
                group.addTask { try await claim.hold(client, heard, body) }
                defer { group.cancelAll() }
                _ = try await group.next()
            }
        }
    }
}

/// The way to the control of a device.
private struct ControlClaim: Sendable {
    let device: String?
    let session: String?
    /// Whether it takes the device from another controller at once.
    let takes: Bool

    /// Takes control, and runs `body`. Control ends with the connection.
    func hold(
        _ client: RelayClient,
        _ heard: @escaping @Sendable (GamepadStatus) throws -> Void,
        _ body: @escaping @Sendable (LiveSession) async throws -> Void
    ) async throws {
        let live = try await watched(client).watch()
        defer { live.close() }
        try await live.takeControl(fromOthers: takes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Self.follow(live, heard) }
            group.addTask { try await body(live) }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    private func watched(_ client: RelayClient) async throws(RelayError) -> any Screen {
        if let id = session.flatMap(UInt32.init) { return client.session(id) }
        let device = client.device(try await client.deviceName(device))
        return session.map { device.session($0) } ?? device
    }

    /// Follows what the relay says, until control is lost.
    private static func follow(_ live: LiveSession, _ heard: (GamepadStatus) throws -> Void) async throws {
        for try await event in live.events {
            switch event {
            case .interrupted(let error): throw error
            case .control(let control) where !control.isMine && control.wasTaken:
                throw CommandError.failed("another caller has taken control of the device")
            // Speech that came too late is left out.
            case .refused(let refusal) where refusal.reason != "rate":
                throw CommandError.failed("the relay refuses: \(refusal.detail)")
            case .gamepad(let status): try heard(status)
            default: break
            }
        }
    }
}
