import Access
import ArgumentParser

struct RevokeKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revokes a key: its calls are refused at once, and its connections end within a second or two."
    )

    @OptionGroup var options: KeyFileOptions

    @Argument(help: "What the key is called.")
    var name: String

    func run() async throws {
        try await CommandError.reporting {
            let file = try options.file()
            try CommandError.reporting { () throws(KeyFileError) in
                try file.change { ring throws(KeyFileError) in try ring.revoke(name) }
            }
        }
    }
}
