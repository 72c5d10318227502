package import NIOCore

/// How many connections callers and viewers may have, and for how long one may keep the relay waiting.
package struct ConnectionLimits: Sendable, Equatable {
    /// Most connections in all: HTTP, WebSockets and sessions' ports.
    package var maximum = 4096
    /// Most connections of one address.
    package var maximumPerAddress = 1024
    /// How long the head of a connection's first request may take, with the TLS handshake; each request's body; and a key on a session's port.
    package var requestTimeout = TimeAmount.seconds(10)
    /// How long a connection may be idle between two requests, and how long it may take nothing of an answer.
    package var idleTimeout = TimeAmount.seconds(75)

    package init() {}
}
