import ArgumentParser
@preconcurrency import Glibc
import NIOCore

struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Writes a picture of a session's screen to a file.",
        discussion: """
            The file is there when it is whole, or stays as it was.
              heliograph snapshot 1 --output screen.png --fresh
            """
    )

    @OptionGroup var address: RelayAddress

    @Argument(help: "The session's id.")
    var id: UInt32

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Where to write: a name that ends in .jpg or .png; - for a JPEG on standard output. Default: session-ID.jpg.",
            valueName: "file"
        )
    )
    var output: String?

    @Flag(help: "A picture that is captured from now on; else one may be up to a second old.")
    var fresh = false

    private var path: String { output ?? "session-\(id).jpg" }

    private var format: Snapshot.Format? { path == "-" ? .jpeg : Snapshot.Format(path: path) }

    func validate() throws {
        guard format != nil else { throw ValidationError("\(path) ends neither in .jpg nor in .png") }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await CommandError.reporting {
            try await RelayClient.with(address) { client in
                try await Snapshot(session: id, format: format ?? .jpeg, isFresh: fresh).write(to: path, client)
            }
        }
    }
}
