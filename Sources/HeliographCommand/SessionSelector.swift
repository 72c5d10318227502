import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import Program

/// The arguments that select a session: an id, or a device and a name.
///
/// Commands call ``check(namesOne:)`` when their arguments are validated, and then ``address(_:)``.
struct SessionSelector: ParsableArguments {
    @Argument(
        help: "The session's id, or its name on the device. A number is an id.",
        completion: .custom(Completions.sessions)
    )
    var session: String?

    @Option(
        help: ArgumentHelp(
            "The session's device. Default: default, or the relay's only one.",
            valueName: "device"
        ),
        completion: .custom(Completions.devices)
    )
    var device: String?

    @Option(
        help: ArgumentHelp("The session's name, also if it is a number.", valueName: "name"),
        completion: .custom(Completions.sessionNames)
    )
    var name: String?

    var isEmpty: Bool { session == nil && device == nil && name == nil }

    private var id: UInt32? { session.flatMap(UInt32.init) }

    /// Throws if the arguments name no session, or two.
    ///
    /// - Parameter namesOne: Whether a device alone is not enough.
    func check(namesOne: Bool = false) throws {
        if let session, let name {
            throw ValidationError("'\(session)' and --name \(name) are two sessions: give one of them.")
        }
        if let id, let device {
            throw ValidationError("\(id) is an id, which goes without --device \(device). A name is given by --name.")
        }
        if namesOne, session == nil, name == nil {
            throw ValidationError("Give the session's id or name; `heliograph session list` shows both.")
        }
        if isEmpty {
            throw ValidationError(
                "Give the session's id or name, or a --device for the session that its viewers share."
            )
        }
        if id == nil, let name = name ?? session, !name.isName || name.utf8.count > 64 {
            throw ValidationError("'\(name)' is not a session's id or name: use \(String.nameRule).")
        }
    }

    /// Returns the session as calls address it. If there is a name without a device, it asks the relay for its default
    /// device.
    func address(_ client: RelayClient) async throws -> SessionAddress {
        if let id { return .id(id) }
        let device = try await client.deviceName(device)
        return (name ?? session).map { .named($0, device: device) } ?? .shared(device: device)
    }

    /// The default name for a file about the session, without an extension.
    var fileStem: String { id.map { "session-\($0)" } ?? name ?? session ?? device ?? Route.sharedSession }
}
