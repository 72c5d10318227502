package import Logging
package import NIOCore

/// What a relay is told when it starts. Every value has a default.
package struct RelayConfiguration: Sendable {
    /// Where the HTTP API listens; loopback only.
    package var http = Endpoint(host: "127.0.0.1", port: 8420)
    /// Where agents connect; loopback only.
    package var agentLink = Endpoint(host: "127.0.0.1", port: 9300)
    /// The first port that a session without a port of its own tries; 0 lets the system choose.
    package var sessionPortBase = 9200
    /// The devices that can be broadcast, at least one. Their names differ.
    package var devices = [DeviceConfiguration()]
    /// The secret that agents show.
    package var linkToken = LinkToken.random()
    /// Whether the operator chose it. Else the one of the relay's former life counts.
    package var isTokenConfigured = false
    /// Where the relay keeps what it goes on with after its end; nil for nowhere.
    package var stateFile: String?
    /// How long after its start a relay expects agents of its former life before it starts others.
    package var adoptionTime = TimeAmount.seconds(2)

    /// How long a connection may take to say HELLO.
    package var helloTimeout = TimeAmount.seconds(5)
    /// After how long without a byte an agent's link counts as lost.
    package var watchdog = TimeAmount.seconds(6)
    /// How long an agent whose link is gone is expected back before another is started.
    package var agentReturnGrace = TimeAmount.seconds(5)
    /// How long a standby's source may be lost before viewers see a slate.
    package var slateDelay = TimeAmount.seconds(5)
    /// How long a stopped agent has to leave by itself before it is sent SIGTERM.
    package var agentStopGrace = TimeAmount.seconds(2)
    /// Delays between restarts of an agent that exits.
    package var restartBackoff = RestartBackoff.Policy()

    /// How long a connection to the HTTP API may take to send the head of its first request.
    package var requestTimeout = TimeAmount.seconds(10)
    /// What is expected of viewers on WebSockets.
    package var webSocket = WebSocketMachine.Policy()

    /// What a viewer may fall behind by.
    package var viewerQueueLimits = ViewerQueue.Limits()

    /// Written once all ports are open: `{"http":8420,"agentLink":9300,"pid":1234}`.
    package var portsFile: String?
    /// Whether the same is printed to standard output.
    package var printsPorts = false
    /// What is logged at least.
    package var logLevel = Logger.Level.info

    package init() {}

    /// - Throws: ``RelayStartError/notLoopback(option:endpoint:)``
    package func validate() throws(RelayStartError) {
        guard http.isLoopback else { throw .notLoopback(option: "--http", endpoint: http) }
        guard agentLink.isLoopback else { throw .notLoopback(option: "--agent-link", endpoint: agentLink) }
    }
}
