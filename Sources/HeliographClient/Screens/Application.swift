package import HeliographAPI

/// An application that was launched on a device, as it was when a call returned it.
///
///     let editor = try await device.launch("editor", awaitingWindow: .seconds(10))
///     try await editor.focus()
///     try await device.type("Hello, world")
///     try await editor.terminate()
public struct Application: Sendable {
    public let device: Device
    /// The relay's id. No other application has it.
    public let id: String
    /// Its name in the relay's configuration, or the id of its desktop file.
    public let name: String
    /// Whether one of its processes ran.
    public let isRunning: Bool
    /// How the process that was started exited; `nil` if it ran, was ended by a signal, or the relay does not know.
    public let exitStatus: Int?
    /// The signal that ended that process, likewise.
    public let signal: Int?

    init(_ report: ApplicationReport, of device: Device) {
        (self.device, id, name) = (device, report.id, report.name)
        (isRunning, exitStatus, signal) = (report.running, report.exitStatus, report.signal)
    }

    /// Gives its newest window the keyboard. sway and X11 can do that.
    ///
    /// - Parameter takes: Whether to take the device from another controller at once.
    public func focus(takes: Bool = false) async throws(RelayError) {
        _ = try await device.focusApplication(id, takes: takes)
    }

    /// Ends all its processes, and returns how it ended. After 5 s they are killed.
    ///
    /// - Parameter takes: Whether to take the device from another controller at once.
    @discardableResult
    public func terminate(takes: Bool = false) async throws(RelayError) -> Application {
        Application(try await device.terminateApplication(id, takes: takes).report(), of: device)
    }
}

/// Applications of the device's desktop. Calls throw ``RelayError`` with these codes, among others:
/// `unknown_application`, `application_failed`, `controlled` if another controller has the device.
extension Device {
    /// Launches an application of the relay's configuration. If that fails, nothing of it keeps running.
    ///
    /// - Parameters:
    ///   - name: Its name in the configuration.
    ///   - arguments: Added to its command, if the configuration allows that.
    ///   - window: How long to wait until it has a window, 0.1 to 60 s, which sway and X11 tell; `nil` for not.
    ///   - takes: Whether to take the device from another controller at once.
    public func launch(
        _ name: String,
        arguments: [String] = [],
        awaitingWindow window: Duration? = nil,
        takes: Bool = false
    ) async throws(RelayError) -> Application {
        var request = LaunchRequest(awaitingWindow: window, takes: takes)
        request.name = name
        if !arguments.isEmpty { request.arguments = arguments }
        return Application(try await launch(request).report(), of: self)
    }

    /// Launches a desktop file by its id, such as `org.gnome.Calculator`, if the configuration allows them.
    ///
    /// - Parameters:
    ///   - id: Without `.desktop`.
    ///   - window: How long to wait until it has a window, 0.1 to 60 s, which sway and X11 tell; `nil` for not.
    ///   - takes: Whether to take the device from another controller at once.
    public func launch(
        desktopFile id: String,
        awaitingWindow window: Duration? = nil,
        takes: Bool = false
    ) async throws(RelayError) -> Application {
        var request = LaunchRequest(awaitingWindow: window, takes: takes)
        request.desktopFile = id
        return Application(try await launch(request).report(), of: self)
    }

    /// Returns what was launched, the oldest first. The last 32 that have ended are still there.
    public func applications() async throws(RelayError) -> [Application] {
        try await relay.report(of: Routes.listApplications, at: CallPlace.device(name)).applications.map {
            Application($0, of: self)
        }
    }

    /// Returns the names that may be launched, sorted.
    public func launchableApplications() async throws(RelayError) -> [String] {
        try await relay.report(of: Routes.listApplications, at: CallPlace.device(name)).launchable
    }

    package func launch(_ request: LaunchRequest) async throws(RelayError) -> Answer<ApplicationReport> {
        // The agent may need as long as an answer to start the program before it waits for the window.
        let wait = max(0, min(request.timeout, LaunchRequest.longestWait))
        let limit = RelayClient.answerTime * 2 + .seconds(wait)
        return try await relay.answer(to: Routes.launchApplication, request, at: .device(name), timeout: limit)
    }

    package func focusApplication(_ id: String, takes: Bool) async throws(RelayError) -> Answer<ApplicationReport> {
        var request = FocusRequest()
        request.take = takes
        return try await relay.answer(to: Routes.focusApplication, request, at: .application(id, of: name))
    }

    package func terminateApplication(
        _ id: String,
        takes: Bool
    ) async throws(RelayError) -> Answer<ApplicationReport> {
        var query = TerminateQuery()
        query.take = takes
        return try await relay.answer(
            to: Routes.terminateApplication,
            query,
            at: .application(id, of: name),
            timeout: RelayClient.answerTime * 2
        )
    }
}

extension LaunchRequest {
    fileprivate init(awaitingWindow window: Duration?, takes: Bool) {
        self.init()
        (wait, take) = (window != nil, takes)
        if let window { timeout = window.seconds }
    }
}
