import HeliographAPI
package import Relay
package import Wire

extension RunningRelay {
    /// Runs a relay with an agent that can do some things, and a viewer that controls the device.
    ///
    /// - Parameter body: Gets the relay, the agent's link, the viewer, and the session that it watches.
    package static func runControlled(
        _ capabilities: InputCapabilities,
        configure: (inout RelayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningRelay, LinkClient, WebSocketClient, UInt32) async throws -> Void
    ) async throws {
        try await run(configure) { relay in
            let link = try await LinkClient(greeting: relay)
            try await link.send(.inputs(capabilities))
            try await relay.waitForCapabilities()
            let session = try await relay.startSession(["onDemand": true]).id
            let viewer = try await WebSocketClient(relay, session: session)
            try await viewer.control()
            try await body(relay, link, viewer, session)
            try await viewer.close()
        }
    }
}
