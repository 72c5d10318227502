import Foundation

/// A relay's answer to a call.
package struct RelayAnswer: Sendable {
    package let status: Int
    /// The JSON object; empty if there is none.
    package let body: RelayProcess.Object

    package var code: String? { body.string("code") }
}

extension Desktop {
    /// Calls a relay as the desktop's user, whom it lets act without a key.
    package func call(
        _ method: String,
        _ path: String,
        _ body: RelayProcess.Object? = nil,
        of relay: RelayProcess
    ) throws -> RelayAnswer {
        var arguments = ["--silent", "--write-out", "\n%{http_code}", "--request", method]
        if let body {
            let data = try JSONSerialization.data(withJSONObject: body)
            arguments += ["--data-binary", String(decoding: data, as: UTF8.self)]
        }
        let outcome = try Programs.run(
            Programs.desktop,
            ["exec", directory.path, "curl"] + arguments + ["http://127.0.0.1:\(relay.httpPort)\(path)"],
            directory: directory
        )
        let lines = outcome.output.split(separator: "\n")
        guard let status = lines.last.flatMap({ Int($0) }) else {
            throw NeverCame(description: "\(body ?? [:]): \(outcome)")
        }
        let text = lines.dropLast().joined(separator: "\n")
        let answer = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? RelayProcess.Object
        return RelayAnswer(status: status, body: answer ?? [:])
    }

    /// Calls the actions of a relay's only device, as the desktop's user.
    package func callActions(
        _ method: String = "POST",
        _ body: RelayProcess.Object? = nil,
        of relay: RelayProcess
    ) throws -> RelayAnswer {
        try call(method, "/v1/devices/default/actions", body, of: relay)
    }
}
