import Access
import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import Library

struct ConnectLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connects the library of a relay, and copies its catalogue to this machine.",
        discussion: """
            From then on, the commands of `heliograph library` are about that library if no other relay is named. Lists are
            read from the copy, which each of them brings up to date, also while the relay cannot be reached.
              heliograph library connect https://HOST:8420 --key-file key

            The address, the named fingerprint and the key are kept in a file for you alone.
            """
    )

    @Argument(help: ArgumentHelp("The relay's address.", valueName: "url"))
    var url: String

    @Option(
        help: ArgumentHelp(
            "The SHA-256 of the only certificate to trust, as the relay's log and `heliograph status` show it. "
                + "Default: HELIOGRAPH_FINGERPRINT from the environment.",
            valueName: "sha256"
        )
    )
    var fingerprint: String?

    @OptionGroup var caller: CallerKey

    /// The fingerprint that the user names, here or by the environment.
    private var named: String? { fingerprint ?? RelayEnvironment.variableFingerprint(for: url) }

    func validate() throws {
        if let fault = RelayTarget.fault(url: url, fingerprint: named) { throw ValidationError(fault) }
    }

    func run() async throws {
        try await CommandError.reporting {
            let target = try RelayEnvironment.target(url: url, fingerprint: named, key: caller.key())
            try await RelayClient.with(target, silence: LibraryPlace.copyingSilence) { client in
                let caller = try await client.report(of: Routes.getCaller)
                let library = try await ConnectedLibrary.connect(client, fingerprint: named)
                let name = caller.name.map { " with the key \($0)" } ?? ""
                print("connected to \(caller.host)\(name): \(try library.summary())")
            }
        }
    }
}

struct RefreshLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Brings the copy of the connected library's catalogue up to date.",
        discussion: "Lists and searches do that, too."
    )

    func run() async throws {
        try await CommandError.reporting {
            let library = try ConnectedLibrary.required()
            try await RelayClient.with(library.target, silence: LibraryPlace.copyingSilence) { client in
                let isNew = try await library.refresh(client)
                print("\(isNew ? "refreshed" : "nothing has changed"): \(try library.summary())")
            }
        }
    }
}

struct DisconnectLibraryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "Forgets the connected library, its key and the copy of its catalogue."
    )

    func run() async throws {
        try await CommandError.reporting {
            guard try await ConnectedLibrary.disconnect() else { throw CommandError.failed(ConnectedLibrary.absence) }
        }
    }
}

extension ConnectedLibrary {
    fileprivate static let absence = "no library is connected: run `heliograph library connect`"

    fileprivate static func required() throws(CommandError) -> ConnectedLibrary {
        guard let library = try load() else { throw .failed(absence) }
        return library
    }

    /// How much the library has.
    fileprivate func summary() throws(CommandError) -> String {
        let copy = try copy()
        let totals = try CommandError.reporting { () throws(LibraryError) in try copy.totals() }
        let items = "\(totals.items) recording\(totals.items == 1 ? "" : "s")"
        return "\(items), \(Figure.text(Double(totals.bytes) / 1e6)) MB"
    }
}
