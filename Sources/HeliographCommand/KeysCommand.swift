import Access
import ArgumentParser
import CommandSupport
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
            A key is for all devices and for ever, unless you say otherwise:
              heliograph keys make cut --device left --library look,delete --days 30
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

    @OptionGroup var terms: KeyTermsOptions

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
                        let now = Date()
                        return try ring.make(name, terms.terms(at: now), at: now)
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

struct ListKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the keys and the clients that have paired, one a line.",
        discussion: """
            A line has the name, the role, when it was made, its devices (* for all), its rights in the library, when it ends
            (- for never), and the fingerprint of a client that has paired (- for a key), with tabs between them.
            """
    )

    @OptionGroup var options: KeyFileOptions

    func run() async throws {
        try await CommandError.reporting {
            let file = try options.file()
            let ring = try CommandError.reporting { () throws(KeyFileError) in try file.read() }
            for key in ring?.keys ?? [] {
                let devices = key.devices?.joined(separator: ",") ?? "*"
                var columns = [key.name, key.role.rawValue, key.created.formatted(.iso8601), devices]
                columns += [key.libraryRights.text, key.expires?.formatted(.iso8601) ?? "-"]
                if case .certificate(let certificate) = key.proof {
                    columns.append(certificate.text)
                } else {
                    columns.append("-")
                }
                print(columns.joined(separator: "\t"))
            }
        }
    }
}

struct RevokeKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract:
            "Revokes a key, or a client that has paired. Its calls are refused at once; its connections end within about two seconds."
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
