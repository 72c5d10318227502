import HeliographAPI

/// What a WebSocket is connected to. ``WebSocketHandler`` calls it on the connection's event loop, so it must not
/// block.
protocol WebSocketEndpoint: Sendable {
    /// The connection has become a WebSocket.
    func opened()

    /// The connection has closed.
    func closed()

    /// A text message has arrived.
    ///
    /// - Returns: An answer that is useless if delayed: it is left out if the connection has no room for it.
    /// - Throws: Why the message is refused, which ends the connection.
    func received(_ text: String) throws -> JSONValue?

    /// A binary message has arrived.
    ///
    /// - Throws: Why the message is refused, which ends the connection.
    func received(_ bytes: [UInt8]) throws
}
