package import Program

/// What an agent does with applications on its desktop. It answers once, with an ``ApplicationAnswer``.
package struct ApplicationOrder: Sendable, Equatable, Codable {
    package enum Kind: String, Sendable, Codable, CaseIterable {
        /// Starts the first application.
        case launch
        /// Says how all are.
        case look
        /// Gives the first one's newest window the keyboard.
        case focus
        /// Ends all.
        case terminate
    }

    /// The most bytes of a command, its working directory and its environment.
    package static let maximumText = 128 << 10

    /// The order's id, which the answer carries. Used once per link.
    package var order: UInt32
    package var kind: Kind
    package var applications: [LaunchedProcess]
    /// What to start; only of ``Kind/launch``.
    package var launch: ApplicationLaunch?

    package init(
        order: UInt32,
        kind: Kind,
        applications: [LaunchedProcess],
        launch: ApplicationLaunch? = nil
    ) {
        self.order = order
        self.kind = kind
        self.applications = applications
        self.launch = launch
    }
}

/// An application, and the process that was started for it.
package struct LaunchedProcess: Sendable, Equatable, Codable {
    /// The application's id, which its processes carry; see `ApplicationProcesses`.
    package var id: String
    /// The first process; `nil` if it is unknown.
    package var process: ProcessIdentity?

    package init(id: String, process: ProcessIdentity? = nil) {
        self.id = id
        self.process = process
    }
}

/// A program to start: a command, or a desktop file.
package struct ApplicationLaunch: Sendable, Equatable, Codable {
    /// The program and its arguments; `nil` if a desktop file says them.
    package var command: [String]?
    /// The id of a desktop file of the agent's desktop.
    package var desktopFile: String?
    /// The working directory; `nil` for the desktop file's or the agent's.
    package var directory: String?
    /// Variables over those of the agent.
    package var environment: [String: String]?
    /// How long to wait until it has a window, in ms; `nil` for not at all.
    package var windowTime: Int?

    package init(
        command: [String]? = nil,
        desktopFile: String? = nil,
        directory: String? = nil,
        environment: [String: String]? = nil,
        windowTime: Int? = nil
    ) {
        self.command = command
        self.desktopFile = desktopFile
        self.directory = directory
        self.environment = environment
        self.windowTime = windowTime
    }

    /// The number of bytes of its texts.
    package var textLength: Int {
        let variables = (environment ?? [:]).reduce(0) { $0 &+ $1.key.utf8.count &+ $1.value.utf8.count }
        return (command ?? []).reduce(variables &+ (directory?.utf8.count ?? 0)) { $0 &+ $1.utf8.count }
    }
}

/// The answer to an ``ApplicationOrder``.
package struct ApplicationAnswer: Sendable, Equatable, Codable {
    package enum Refusal: String, Sendable, Codable, CaseIterable {
        /// The desktop has no such desktop file, or it cannot be launched.
        case unknownFile = "unknown_file"
        /// The program cannot be started.
        case notStarted = "not_started"
        /// The application ended before it had a window.
        case ended
        /// It had no window in time.
        case late
        /// It has no window.
        case noWindow = "no_window"
        /// The desktop does not say which windows it has.
        case noWindowControl = "no_window_control"
        /// Too many orders are under way.
        case busy
        /// The desktop did not do it, or processes are left.
        case failed
    }

    package var order: UInt32
    /// Why the order was not carried out; `nil` if it was.
    package var refusal: Refusal?
    /// The reason and what to do, for people.
    package var detail: String?
    /// How the order's applications are.
    package var applications: [ApplicationState]

    package init(
        order: UInt32,
        refusal: Refusal? = nil,
        detail: String? = nil,
        applications: [ApplicationState] = []
    ) {
        self.order = order
        self.refusal = refusal
        self.detail = detail
        self.applications = applications
    }
}

/// How a launched application is.
package struct ApplicationState: Sendable, Equatable, Codable {
    package var id: String
    /// The first process; `nil` if the agent does not know it.
    package var process: ProcessIdentity?
    /// The user id of its processes; `nil` if another agent has launched it.
    package var user: UInt32?
    /// Whether one of its processes runs.
    package var isRunning: Bool
    /// The exit status of the first process; `nil` if it runs, was ended by a signal, or another agent has started it.
    package var status: Int?
    /// The signal that ended the first process.
    package var signal: Int?

    package init(
        id: String,
        process: ProcessIdentity? = nil,
        user: UInt32? = nil,
        isRunning: Bool,
        status: Int? = nil,
        signal: Int? = nil
    ) {
        self.id = id
        self.process = process
        self.user = user
        self.isRunning = isRunning
        self.status = status
        self.signal = signal
    }
}
