import HeliographAPI

/// The way of a viewer on a WebSocket to the control of its device.
struct ControlClaim: Sendable {
    /// The message that gives control back.
    static let leaving: [UInt8] = [1, 0, 0, 0]

    private let takes: Bool
    private var hasAsked = false
    private var isMine = false

    /// - Parameter takes: Whether it takes the device from another controller at once.
    init(takes: Bool) { self.takes = takes }

    /// Follows the relay's events until the connection ends: asks for control when the first event `control` comes.
    ///
    /// - Parameter heard: Gets each event, and whether control begins with it.
    /// - Throws: ``CommandError`` if there is no control, or none any more, or if the connection ends.
    mutating func follow(
        _ messages: AsyncStream<SessionSocket.Message>,
        on socket: SessionSocket,
        _ heard: (JSONValue, _ begins: Bool) async throws -> Void
    ) async throws {
        for await message in messages {
            switch message {
            case .event(let event): try await heard(event, follow(event, on: socket))
            case .close(let code):
                throw CommandError.brokenOff(
                    "the relay closed the connection (\(code)): the session has ended, or was full"
                )
            }
        }
        try Task.checkCancellation()
        throw CommandError.brokenOff("the connection to the relay was lost")
    }

    /// - Returns: Whether control begins with this event.
    private mutating func follow(_ event: JSONValue, on socket: SessionSocket) async throws -> Bool {
        switch event["type"] {
        // Speech that came too late is left out.
        case "refused" where event["reason"] != "rate":
            throw CommandError.failed("the relay refuses: \(Self.text(event["detail"]))")
        case "control":
            guard event["may"] == true else {
                throw CommandError.failed("you may not act on the device: \(Self.text(event["why"]))")
            }
            let wasMine = isMine
            if wasMine, event["mine"] != true {
                throw CommandError.failed("another caller has taken control of the device")
            }
            guard hasAsked else {
                hasAsked = true
                try await socket.send([1, takes ? 2 : 1, 0, 0])
                return false
            }
            isMine = event["mine"] == true
            return isMine && !wasMine
        default: return false
        }
    }

    /// Returns what an event says for people.
    static func text(_ value: JSONValue?) -> String {
        if case .string(let text)? = value { text } else { "it gives no reason" }
    }
}
