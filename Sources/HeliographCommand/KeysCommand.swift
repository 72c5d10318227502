import Access
import ArgumentParser
import FoundationEssentials
@preconcurrency import Glibc
import Program
import SystemPackage

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Makes, lists and revokes the API keys of relays on this machine.",
        discussion: """
            A relay takes notice at once, without a restart:
              heliograph keys make ci --role operator --output ci.key
              HELIOGRAPH_KEY_FILE=ci.key heliograph status
              heliograph keys revoke ci
            A key is for all devices, unless you name some:
              heliograph keys make cut --device left --library look,delete
            The first key turns access control on. The file holds only hashes: each key is shown once, when you make it.
            """,
        subcommands: [MakeKeyCommand.self, ListKeysCommand.self, RevokeKeyCommand.self]
    )
}

struct MakeKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Makes a key and prints it. It is shown only once."
    )

    @OptionGroup var options: KeyFileOptions

    @Argument(help: "What the key is called in lists and in the relay's log: \(String.nameRule).")
    var name: String

    @Option(
        help:
            "What its holder may do: viewer to watch, controller also to act on screens, operator also to make changes."
    )
    var role = Role.viewer

    @Option(
        help: ArgumentHelp(
            "A device that the key is for. Repeat it for more, up to \(KeyRing.maximumDevices). Default: all devices.",
            valueName: "name"
        )
    )
    var device: [String] = []

    @Option(
        help: ArgumentHelp(
            "What its holder may do in the library, whatever the role: look, record, delete, with commas between them, or none. Default: look; for an operator all.",
            valueName: "rights"
        ),
        transform: MakeKeyCommand.rights
    )
    var library: Set<LibraryRight>?

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
            // Before the key is created, so that an error leaves no key that nobody has seen.
            let output = try output.map(Self.newFile)
            let key: APIKey
            do {
                key = try CommandError.reporting { () throws(KeyFileError) in
                    try file.change { ring throws(KeyFileError) in
                        try ring.make(
                            name,
                            role: role,
                            devices: device.isEmpty ? nil : Set(device),
                            library: library,
                            at: Date()
                        )
                    }
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

    private static func rights(_ text: String) throws -> Set<LibraryRight> {
        do {
            return try Set<LibraryRight>(text: text)
        } catch {
            throw ValidationError("\(error)")
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

struct ListKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys, one a line.",
        discussion: """
            A line has the name, the role, when the key was made, its devices (* for all), and its rights in the library,
            with tabs between them.
            """
    )

    @OptionGroup var options: KeyFileOptions

    func run() async throws {
        try await CommandError.reporting {
            let file = try options.file()
            let ring = try CommandError.reporting { () throws(KeyFileError) in try file.read() }
            for key in ring?.keys ?? [] {
                let devices = key.devices?.joined(separator: ",") ?? "*"
                let columns = [
                    key.name, key.role.rawValue, key.created.formatted(.iso8601), devices, key.libraryRights.text,
                ]
                print(columns.joined(separator: "\t"))
            }
        }
    }
}

struct RevokeKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revokes a key. Its calls are refused at once; its connections end within about two seconds."
    )

    @OptionGroup var options: KeyFileOptions

    @Argument(help: "What the key is called.")
    var name: String

    func run() async throws {
        try await CommandError.reporting {
            let file = try options.file()
            try CommandError.reporting { () throws(KeyFileError) in
                try file.change { ring throws(KeyFileError) in _ = try ring.revoke(name) }
            }
        }
    }
}

/// The option that selects the relays' key file.
struct KeyFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The relay's --keys-file. Default: $XDG_STATE_HOME/heliograph/keys.json of this user.",
            valueName: "path"
        )
    )
    var keysFile: String?

    func file() throws(CommandError) -> KeyFile {
        guard let path = keysFile ?? KeyFile.usualPath(in: ProcessInfo.processInfo.environment) else {
            throw .failed("there is no home directory: name the file of the keys with --keys-file")
        }
        return KeyFile(path: path)
    }
}
