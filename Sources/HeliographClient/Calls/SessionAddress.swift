package import HeliographAPI

/// A session as calls address it.
package enum SessionAddress: Sendable {
    case id(UInt32)
    case named(String, device: String)
    /// The device's own session. Viewers' calls start it if the relay's configuration allows that.
    case shared(device: String)

    /// Returns where to make a call about the session.
    package func place(of route: Route) -> CallPlace {
        switch self {
        case .id(let id): .session(id)
        case .named(let name, let device): .named(name, of: device)
        case .shared(let device) where route.isOfDevice: .device(device)
        case .shared(let device): .named(Route.sharedSession, of: device)
        }
    }

    /// The session for people, as part of a sentence.
    package var text: String {
        switch self {
        case .id(let id): "session \(id)"
        case .named(let name, let device): "session \(name) of device \(device)"
        case .shared(let device): "session \(Route.sharedSession) of device \(device)"
        }
    }

    /// Returns the session's device, which the relay looks up for an id.
    package func device(_ client: RelayClient) async throws(RelayError) -> String {
        switch self {
        case .id: try await client.report(of: Routes.getSession, at: self).device
        case .named(_, let device), .shared(let device): device
        }
    }

    /// Returns the session's report. If the device's own session does not run, this starts it if the relay allows that.
    package func report(_ client: RelayClient) async throws(RelayError) -> SessionReport {
        guard case .shared = self else { return try await client.report(of: Routes.getSession, at: self) }
        // A viewer's call that ends at once.
        var wait = ScreenWait()
        wait.timeout = 0
        let id = try await client.report(of: Routes.waitForScreen, wait, at: self).id
        return try await client.report(of: Routes.getSession, at: SessionAddress.id(id))
    }
}
