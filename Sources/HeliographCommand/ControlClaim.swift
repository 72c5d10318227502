import HeliographAPI

/// The way of a viewer on a WebSocket to the control of its device.
struct ControlClaim: Sendable {
    private let takes: Bool
    private var hasAsked = false
    private(set) var isMine = false

    /// - Parameter takes: Whether it takes the device from another controller at once.
    init(takes: Bool) { self.takes = takes }

    /// Follows an event: asks for control when the first event `control` comes.
    ///
    /// - Returns: Whether control begins with this event.
    /// - Throws: ``CommandError`` if there is no control, or none any more.
    mutating func follow(_ event: JSONValue, on socket: SessionSocket) async throws -> Bool {
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

extension SessionSocket.Message {
    /// The event.
    ///
    /// - Throws: ``CommandError`` if the relay has closed the connection.
    func event() throws(CommandError) -> JSONValue {
        switch self {
        case .event(let event): return event
        case .close(let code):
            throw .brokenOff("the relay closed the connection (\(code)): the session has ended, or was full")
        }
    }
}

extension RelayClient {
    /// Returns the id of a session that was named by its id or name, or of the one that the device's viewers share.
    func sessionID(of session: String?, device: String?) async throws -> UInt32 {
        if let id = session.flatMap(UInt32.init) { return id }
        let device = try await self.device(device)
        let address = session.map { SessionAddress.named($0, device: device) } ?? .shared(device: device)
        return try await address.report(self).id
    }
}
