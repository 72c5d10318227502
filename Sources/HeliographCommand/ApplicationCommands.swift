import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import NIOCore

struct LaunchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch",
        abstract: "Launches an application on a device's desktop.",
        discussion: """
            The relay's configuration lists the applications. `heliograph applications` shows them. Arguments after the name are
            added to its command, if the configuration allows that.
              heliograph launch terminal --wait
              heliograph launch browser -- --new-window https://example.com
              heliograph launch --desktop-file org.gnome.Calculator
            """
    )

    @Argument(
        help: ArgumentHelp("The application's name in the configuration, and arguments for it.", valueName: "name")
    )
    var words: [String] = []

    @OptionGroup var options: RelayOptions

    @Option(help: ArgumentHelp("A desktop file instead of a name, if the configuration allows them.", valueName: "id"))
    var desktopFile: String?

    @Flag(help: "Waits until the application has a window. sway and X11 tell that.")
    var wait = false

    @Option(help: ArgumentHelp("With --wait: how long, in seconds, at most 60. Default: 10.", valueName: "s"))
    var timeout: Double?

    @Flag(help: "Takes the device from another controller at once. By default, that needs 5 s without its actions.")
    var take = false

    @OptionGroup var format: AnswerFormat

    func validate() throws {
        if desktopFile == nil, words.isEmpty { throw ValidationError("Name an application, or a desktop file.") }
        if desktopFile != nil, !words.isEmpty {
            throw ValidationError("A desktop file replaces the name, and takes no arguments.")
        }
        if let timeout {
            guard wait else { throw ValidationError("--timeout needs --wait.") }
            guard 0.1...LaunchRequest.longestWait ~= timeout else {
                throw ValidationError("--timeout takes 0.1 to \(Int(LaunchRequest.longestWait)).")
            }
        }
    }

    func run() async throws {
        var request = LaunchRequest()
        request.name = words.first
        request.desktopFile = desktopFile
        if words.count > 1 { request.arguments = Array(words.dropFirst()) }
        (request.wait, request.take) = (wait, take)
        if let timeout { request.timeout = timeout }
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let device = client.device(try await client.deviceName(options.device))
                try format.show(try await device.launch(request)) { $0.id }
            }
        }
    }
}

struct ApplicationsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "applications",
        abstract: "Lists what was launched on a device, and what may be launched."
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let device = try await client.deviceName(options.device)
                try format.show(try await client.answer(to: Routes.listApplications, at: .device(device))) { list in
                    let launched = list.applications.map { "\($0.id)  \($0.name): \($0.condition)" }
                    let names = list.launchable + (list.desktopFiles ? ["desktop files"] : [])
                    return
                        (launched + ["may be launched: \(names.isEmpty ? "nothing" : names.joined(separator: ", "))"])
                        .joined(separator: "\n")
                }
            }
        }
    }
}

struct FocusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "focus",
        abstract: "Gives the keyboard to the newest window of a launched application. For sway and X11."
    )

    @OptionGroup var target: ApplicationTarget

    func run() async throws {
        try await target.perform { device, id in
            try await device.focusApplication(id, takes: target.take)
        } text: {
            "\($0.name) has the keyboard"
        }
    }
}

struct TerminateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "terminate",
        abstract: "Ends all processes of a launched application: by SIGTERM, and 5 s later by SIGKILL."
    )

    @OptionGroup var target: ApplicationTarget

    func run() async throws {
        try await target.perform { device, id in
            try await device.terminateApplication(id, takes: target.take)
        } text: {
            "\($0.name): \($0.condition)"
        }
    }
}

/// The options of commands about an application that was launched.
struct ApplicationTarget: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The application's id, or its name for the newest one that runs.", valueName: "application")
    )
    var application: String

    @OptionGroup var options: RelayOptions

    @Flag(help: "Takes the device from another controller at once. By default, that needs 5 s without its actions.")
    var take = false

    @OptionGroup var format: AnswerFormat

    /// Makes a call about the application, and shows the relay's answer.
    fileprivate func perform(
        _ call: (Device, _ id: String) async throws -> Answer<ApplicationReport>,
        text: (ApplicationReport) -> String
    ) async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let device = try await client.deviceName(options.device)
                let all = try await client.report(of: Routes.listApplications, at: CallPlace.device(device))
                    .applications
                let meant =
                    all.first { $0.id == application } ?? all.last { $0.name == application && $0.running }
                guard let meant else {
                    throw CommandError.failed(
                        "nothing called \(application) runs on device \(device): `heliograph applications` lists what was launched"
                    )
                }
                try format.show(try await call(client.device(device), meant.id), text)
            }
        }
    }
}

extension ApplicationReport {
    /// How it is, in words.
    fileprivate var condition: String {
        if running { return pid.map { "runs as process \($0)" } ?? "runs" }
        return exitStatus.map { "exited with status \($0)" } ?? signal.map { "ended by signal \($0)" } ?? "ended"
    }
}
