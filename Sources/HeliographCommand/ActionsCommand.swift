import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient

struct ActionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "actions",
        abstract: "Performs actions from a JSON file.",
        discussion: """
            The file has an object for POST /v1/devices/{device}/actions: {"actions": […]} as in W3C WebDriver, or a short form
            such as {"click": {"x": 500, "y": 320}}. Keys and buttons that it leaves held are released after 2 s, or by
            `heliograph release`.
              heliograph actions drag.json --device left
            """
    )

    @Argument(help: "The file; - reads standard input.", completion: .file(extensions: ["json"]))
    var file: String

    @OptionGroup var target: ActionTarget

    func run() async throws {
        try await CommandError.reporting {
            let bytes = try ReadFile.bytes(
                of: file,
                "the file",
                limit: Routes.act.route.maximumBody,
                advice: "has more than 1 MiB: send the actions in parts"
            )
            let body: JSONValue
            do {
                body = try JSONValue(parsing: bytes)
            } catch {
                throw CommandError.failed("\(file) is not JSON: \(error)")
            }
            guard case .object = body else {
                throw CommandError.failed("\(file) has \(body.kind), not an object such as {\"actions\": […]}")
            }
            try await target.perform([body])
        }
    }
}

struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Releases all keys, buttons and fingers of a device, and ends your control of it."
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    @Flag(help: "Also releases what another controller holds, and takes the device from it.")
    var take = false

    func run() async throws {
        var query = ReleaseQuery()
        query.take = take
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let device = try await client.deviceName(options.device)
                let answer = try await client.answer(to: Routes.release, query, at: .device(device))
                try format.show(answer) { report in
                    "\(report.device): \(report.released ? "released" : "no agent acts on it, and nothing is held")"
                }
            }
        }
    }
}
