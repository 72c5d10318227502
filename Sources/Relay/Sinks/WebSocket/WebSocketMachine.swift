import Media
package import NIOCore
package import NIOWebSocket

/// Why a WebSocket ends, as sent to the peer.
package struct WebSocketClose: Sendable, Equatable {
    package var code: UInt16
    /// The reason in plain text; at most 123 bytes.
    package var reason: String

    package init(_ code: WebSocketErrorCode, _ reason: String = "") {
        self.code = UInt16(webSocketErrorCode: code)
        self.reason = reason
    }

    /// "Try again later", from the IANA registry that section 7.4.1 of RFC 6455 refers to.
    package static let tryAgainLater = WebSocketErrorCode.unknown(1013)
    /// A code for private use: the viewer was behind for too long.
    package static let fellBehind = WebSocketErrorCode.unknown(4001)
    /// Likewise: the peer speaks another version of the messages.
    package static let otherVersion = WebSocketErrorCode.unknown(4002)
}

/// The server's side of one WebSocket connection (RFC 6455). It checks what comes in, answers control frames, and
/// notices when the peer is gone.
package struct WebSocketMachine: Sendable {
    /// The limits on a viewer's WebSocket.
    package struct Policy: Sendable {
        /// Most bytes of a message, all fragments together.
        package var maximumMessage = 4 << 10
        package var pingInterval = TimeAmount.seconds(5)
        /// How long a ping may stay unanswered before the peer counts as gone.
        package var pongTimeout = TimeAmount.seconds(15)
        /// How long to wait for the peer's Close.
        package var closeTimeout = TimeAmount.seconds(1)
        /// Most frames at once, and per second in the long run. A viewer who plays sends 125 movements, 125 states of a
        /// gamepad, 50 packets of speech and 60 acknowledgements a second.
        package var burst = 1000
        package var framesPerSecond = 500

        package init() {}
    }

    /// What to do after an event.
    package enum Action: Sendable, Equatable {
        case ping([UInt8])
        case pong([UInt8])
        /// A complete text message has arrived.
        case message(String)
        /// A complete binary message has arrived.
        case input([UInt8])
        /// Send Close, and nothing after it.
        case close(WebSocketClose)
        /// Close the connection once all output is written.
        case finish
        /// Close the connection at once: the peer is gone.
        case drop
    }

    private enum State: Equatable {
        case open
        /// Close was sent.
        case closing(since: NIODeadline)
        case dropped
    }

    private let policy: Policy
    private var state = State.open
    private var frames: TokenBucket
    /// The message received so far; `nil` between messages.
    private var fragments: (opcode: WebSocketOpcode, bytes: [UInt8])?

    /// Payloads of the pings that have no answer yet.
    private var pings: [[UInt8]] = []
    private var lastPing: NIODeadline
    private var lastPong: NIODeadline

    package init(policy: Policy = Policy(), now: NIODeadline) {
        self.policy = policy
        frames = TokenBucket(capacity: policy.burst, perSecond: policy.framesPerSecond)
        (lastPing, lastPong) = (now, now)
    }

    /// Whether messages may be sent.
    package var isOpen: Bool { state == .open }

    // MARK: What comes in

    package mutating func received(_ frame: WebSocketFrame, now: NIODeadline) -> [Action] {
        switch state {
        case .dropped: return []
        case .closing:
            // After a Close from this side, only the peer's Close counts.
            return frame.opcode == .connectionClose ? [.finish] : []
        case .open: break
        }
        guard frames.take(now: now) else { return close(.init(.policyViolation, "too many frames"), now: now) }
        guard frame.maskKey != nil else { return violation("frames of clients are masked", now: now) }
        guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return violation("no extension was agreed", now: now) }
        let payload = Array(frame.unmaskedData.readableBytesView)
        switch frame.opcode {
        case .ping: return [.pong(payload)]
        case .pong: return pong(payload, now: now)
        case .connectionClose: return peerCloses(payload, now: now)
        case .text, .binary:
            guard fragments == nil else { return violation("a message inside another", now: now) }
            return part(payload, of: (frame.opcode, []), isLast: frame.fin, now: now)
        case .continuation:
            guard let fragments else { return violation("nothing to continue", now: now) }
            return part(payload, of: fragments, isLast: frame.fin, now: now)
        default: return violation("reserved opcode", now: now)
        }
    }

    /// Closes because the bytes that came are not a frame, or it is too long.
    package mutating func received(_ error: NIOWebSocketError, now: NIODeadline) -> [Action] {
        guard isOpen else { return [] }
        switch error {
        case .invalidFrameLength: return tooLong(now: now)
        case .fragmentedControlFrame, .multiByteControlFrameLength: return violation("bad control frame", now: now)
        }
    }

    /// - Parameter beginning: The parts of the message before this one.
    private mutating func part(
        _ payload: [UInt8],
        of beginning: (opcode: WebSocketOpcode, bytes: [UInt8]),
        isLast: Bool,
        now: NIODeadline
    ) -> [Action] {
        let message = beginning.bytes + payload
        guard message.count <= policy.maximumMessage else { return tooLong(now: now) }
        fragments = isLast ? nil : (beginning.opcode, message)
        guard isLast else { return [] }
        if beginning.opcode == .binary { return [.input(message)] }
        guard let text = String(validating: message, as: UTF8.self) else {
            return close(.init(.dataInconsistentWithMessage, "not UTF-8"), now: now)
        }
        return [.message(text)]
    }

    private mutating func pong(_ payload: [UInt8], now: NIODeadline) -> [Action] {
        // A pong counts only if it repeats a ping's payload, which proves that the peer read the ping.
        guard let place = pings.firstIndex(of: payload) else { return [] }
        pings.removeLeading(place &+ 1)
        lastPong = now
        return []
    }

    private mutating func peerCloses(_ payload: [UInt8], now: NIODeadline) -> [Action] {
        guard let high = payload.first else { return close(.init(.normalClosure), now: now) + [.finish] }
        guard let low = payload[at: 1] else { return violation("bad Close", now: now) }
        let code = UInt16(clamping: high) << 8 | UInt16(clamping: low)
        guard Self.mayBeSent(code) else { return violation("bad Close", now: now) }
        guard String(validating: payload.dropFirst(2), as: UTF8.self) != nil else {
            return close(.init(.dataInconsistentWithMessage, "not UTF-8"), now: now)
        }
        return close(.init(.unknown(code)), now: now) + [.finish]
    }

    /// Returns whether a peer may send this code. 1004 to 1006 and 1015 are never sent (RFC 6455, section 7.4, and
    /// IANA).
    private static func mayBeSent(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    // MARK: What goes out

    /// Closes from this side.
    package mutating func close(_ close: WebSocketClose, now: NIODeadline) -> [Action] {
        guard isOpen else { return [] }
        fragments = nil
        state = .closing(since: now)
        return [.close(close)]
    }

    /// Returns what is due by `now`. Called periodically.
    package mutating func tick(now: NIODeadline) -> [Action] {
        switch state {
        case .dropped: return []
        case .closing(let since):
            guard now - since >= policy.closeTimeout else { return [] }
            state = .dropped
            return [.drop]
        case .open:
            if now - lastPong >= policy.pongTimeout {
                state = .dropped
                return [.drop]
            }
            guard now - lastPing >= policy.pingInterval else { return [] }
            lastPing = now
            let payload = withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { Array($0) }
            pings.append(payload)
            return [.ping(payload)]
        }
    }

    /// Closes because the peer violated the protocol.
    private mutating func violation(_ reason: String, now: NIODeadline) -> [Action] {
        close(.init(.protocolError, reason), now: now)
    }

    private mutating func tooLong(now: NIODeadline) -> [Action] {
        close(.init(.messageTooLarge, "messages have at most \(policy.maximumMessage) bytes"), now: now)
    }
}
