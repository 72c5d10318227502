import ArgumentParser
import CommandSupport
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import NIOCore
import SystemPackage
import Wire

struct ClipboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clipboard",
        abstract: "Reads and sets the clipboard of a device's desktop.",
        discussion: """
            Both take control of the device, as actions do. A text that is set can be pasted until another program sets the
            clipboard, or the capture agent ends.
              heliograph clipboard set "Hello, world"
              heliograph press ctrl+v
              heliograph clipboard get --png copied.png
            """,
        subcommands: [GetClipboardCommand.self, SetClipboardCommand.self]
    )
}

/// The options of commands that use a device's clipboard.
struct ClipboardTarget: ParsableArguments {
    @OptionGroup var options: RelayOptions

    @Flag(help: "Takes the device from another controller at once. By default, that needs 5 s without its actions.")
    var take = false
}

struct GetClipboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Writes the clipboard's text to standard output, or its image to a file.",
        discussion: """
            The text is written as it is, without a line feed at its end.
              heliograph clipboard get --device left >copied.txt
            """
    )

    @OptionGroup var target: ClipboardTarget

    @Option(
        help: ArgumentHelp(
            "Writes the clipboard's PNG image to this file instead of its text; - for standard output.",
            valueName: "file"
        ),
        completion: .file(extensions: ["png"])
    )
    var png: String?

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await CommandError.reporting {
            try await RelayClient.with(target.options.address) { client in
                let device = client.device(try await client.deviceName(target.options.device))
                let bytes = try await device.clipboard(png == nil ? .text : .png, takes: target.take)
                guard let png, png != "-" else {
                    _ = try FileDescriptor.writeToStandardOutput(bytes.readableBytesView)
                    return
                }
                do {
                    try await WholeFile.write(bytes, to: png)
                } catch {
                    throw CommandError.failed("cannot write \(png): \(error)")
                }
            }
        }
    }
}

struct SetClipboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Puts a text or a PNG image into the clipboard.",
        discussion: """
            With - the text is read from standard input, which keeps it out of the process list.
              heliograph clipboard set "Hello, world"
              heliograph clipboard set - <password.txt
              heliograph clipboard set --png picture.png
            """
    )

    @Argument(help: ArgumentHelp("The text, at most 1 MiB; - reads standard input.", valueName: "text"))
    var text: String?

    @Option(
        help: ArgumentHelp("A PNG file, at most 16 MiB, instead of a text; - reads standard input.", valueName: "file"),
        completion: .file(extensions: ["png"])
    )
    var png: String?

    @OptionGroup var target: ClipboardTarget
    @OptionGroup var format: AnswerFormat

    func validate() throws {
        guard (text == nil) != (png == nil) else {
            throw ValidationError("Give either a text or an image by --png, not both.")
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            let content = try content()
            try await RelayClient.with(target.options.address) { client in
                let device = client.device(try await client.deviceName(target.options.device))
                let type = ClipboardType(content.kind)
                let answer = try await device.setClipboard(type, ByteBuffer(bytes: content.bytes), takes: target.take)
                try format.show(answer) { report in
                    "\(report.device): the clipboard has \(report.type.rawValue), \(report.bytes) bytes"
                }
            }
        }
    }

    /// Reads what to set, and checks it as the relay would.
    private func content() throws(CommandError) -> ClipboardContent {
        let kind: ClipboardContent.Kind = png == nil ? .text : .png
        let path = png ?? "-"
        let bytes: [UInt8]
        if let text, text != "-" {
            bytes = Array(text.utf8)
        } else {
            bytes = try ReadFile.bytes(
                of: path,
                "the image",
                limit: kind.maximumByteCount,
                advice: "has more than \(kind.maximumByteCount) bytes"
            )
        }
        let content = ClipboardContent(kind, bytes)
        guard !content.isTooLarge else { throw .failed("the text has more than \(kind.maximumByteCount) bytes") }
        guard content.isOfItsKind else {
            throw .failed(kind == .text ? "standard input is not UTF-8 text" : "\(path) is not a PNG file")
        }
        return content
    }
}
