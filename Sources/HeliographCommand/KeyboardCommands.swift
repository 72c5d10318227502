import ArgumentParser
import CommandSupport
import HeliographAPI

struct TypeCommand: AsyncParsableCommand {
    /// The longest text, in UTF-8 bytes.
    private static let longestText = 64 << 10

    static let configuration = CommandConfiguration(
        commandName: "type",
        abstract: "Types text on the desktop's keyboard.",
        discussion: """
            Line feeds are Return, tabs are Tab. With - the text is read from standard input, which keeps it out of the process
            list.
              heliograph type "Hello, world"
              heliograph type --device left - <password.txt
            """
    )

    @Argument(help: ArgumentHelp("The text, at most 64 KiB; - reads standard input.", valueName: "text"))
    var text: String

    @OptionGroup var target: ActionTarget

    func validate() throws {
        guard !text.isEmpty else { throw ValidationError("There is no text to type.") }
        guard text.utf8.count <= Self.longestText else { throw ValidationError("The text has more than 64 KiB.") }
    }

    func run() async throws {
        try await CommandError.reporting {
            var typed = text
            if text == "-" {
                let bytes = try ReadFile.bytes(
                    of: "-",
                    "the text",
                    limit: Self.longestText,
                    advice: "has more than 64 KiB: type it in parts"
                )
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw CommandError.failed("standard input is not UTF-8 text")
                }
                guard !text.isEmpty else {
                    throw CommandError.failed("standard input is empty: there is no text to type")
                }
                typed = text
            }
            try await target.perform(Self.pieces(of: typed).map { ["type": .string($0)] })
        }
    }

    /// Splits a text into the longest pieces that a call may have.
    private static func pieces(of text: String) -> [String] {
        let characters = Array(text.unicodeScalars)
        return stride(from: 0, to: characters.count, by: ActionsRequest.maximumText).map { start in
            let end = min(start + ActionsRequest.maximumText, characters.count)
            var piece = String.UnicodeScalarView()
            piece.append(contentsOf: characters[start..<end])
            return String(piece)
        }
    }
}

struct PressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "press",
        abstract: "Presses keys, one chord after the other.",
        discussion: """
            A chord is keys with + between them, such as enter, f5, ctrl+s or ctrl+shift+t. The keys go down in this order and up
            in the reverse one. docs/reference/api.md has the names of keys.
              heliograph press ctrl+a delete
              heliograph press alt+f4 --device left
            """
    )

    @Argument(help: ArgumentHelp("The chords.", valueName: "chord"))
    var chords: [String]

    @OptionGroup var target: ActionTarget

    func validate() throws {
        guard !chords.contains("") else { throw ValidationError("A chord is empty: use keys such as enter or ctrl+s.") }
    }

    func run() async throws {
        try await target.perform("press", .string(chords.joined(separator: " ")))
    }
}
