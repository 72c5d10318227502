import Access
import ArgumentParser
import FoundationEssentials
@preconcurrency import Glibc
import SystemPackage

struct MakeKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Makes a key and prints it: it is not to be had again."
    )

    @OptionGroup var options: KeyFileOptions

    @Argument(help: "What the key is called in lists and in the relay's log: 1 to 64 letters, digits, - and _.")
    var name: String

    @Option(help: "What its holder may do: viewer to look and watch, operator to change things too.")
    var role = Role.viewer

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Writes the key to this new file, for its user alone, instead of printing it.",
            valueName: "path"
        )
    )
    var output: String?

    func run() async throws {
        try await CommandError.reporting {
            let file = try options.file()
            // Before the key is made: one that nobody has seen would be left.
            let output = try output.map(Self.newFile)
            let key: APIKey
            do {
                key = try CommandError.reporting { () throws(KeyFileError) in
                    try file.change { ring throws(KeyFileError) in try ring.make(name, role: role, at: Date()) }
                }
            } catch {
                if let path = self.output { unlink(path) }
                throw error
            }
            guard let output else { return print(key.text) }
            do {
                _ = try output.closeAfter { try output.writeAll(Array("\(key.text)\n".utf8)) }
            } catch {
                throw CommandError.failed(
                    "cannot write \(self.output ?? ""): \(error); revoke the key and make another"
                )
            }
        }
    }

    private static func newFile(_ path: String) throws(CommandError) -> SystemPackage.FileDescriptor {
        do {
            return try .open(
                FilePath(path),
                .writeOnly,
                options: [.create, .exclusiveCreate],
                permissions: .ownerReadWrite
            )
        } catch {
            throw .failed("cannot write \(path): \(error)")
        }
    }
}

extension Role: ExpressibleByArgument {}
