import ArgumentParser
import HeliographAPI
import HeliographClient
import NIOCore

/// The format in which a command shows the relay's answer.
struct AnswerFormat: ParsableArguments {
    @Flag(help: "Prints the relay's answer, as JSON.")
    var json = false

    /// Prints the answer unchanged with `--json`, otherwise the text that `text` makes from it.
    ///
    ///     try format.show(try await client.answer(to: Routes.listBroadcasts)) { … }
    func show<Report: Decodable>(_ answer: Answer<Report>, _ text: (Report) throws -> String) throws {
        // A wait's answer begins with spaces, and lists may be empty.
        let line = json ? answer.text : try text(answer.report())
        if !line.isEmpty { print(line) }
    }
}

extension Answer {
    /// The body without surrounding white space.
    var text: String {
        let text = String(buffer: bytes)
        let end = text.lastIndex { !$0.isWhitespace }.map(text.index(after:)) ?? text.startIndex
        return String(text[..<end].drop(while: \.isWhitespace))
    }
}

extension AnswerFormat {
    /// Prints a report, likewise.
    func show<Report: Encodable>(_ report: Report, _ text: (Report) throws -> String) throws {
        let line = json ? try JSONValue(encoding: report).text : try text(report)
        if !line.isEmpty { print(line) }
    }
}
