import ArgumentParser
import CommandSupport
@preconcurrency import Glibc
import HeliographClient
import NIOCore

struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Writes a picture of a session's screen to a file.",
        discussion: """
            The file is there when it is whole, or stays as it was. A --device alone means the session that the device's
            viewers share, which the relay may start for you.
              heliograph snapshot door --output screen.png --fresh
              heliograph snapshot --device left --output left.png
            """
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Where to write: a name that ends in .jpg or .png; - for a JPEG on standard output. Default: session-ID.jpg, "
                + "NAME.jpg or DEVICE.jpg.",
            valueName: "file"
        ),
        completion: .file(extensions: ["jpg", "jpeg", "png"])
    )
    var output: String?

    @Flag(help: "Waits for a picture captured from now on. By default, it may be up to a second old.")
    var fresh = false

    private var path: String { output ?? "\(selector.fileStem).jpg" }

    private var format: Snapshot.Format? { path == "-" ? .jpeg : Snapshot.Format(path: path) }

    func validate() throws {
        try selector.check()
        guard format != nil else {
            throw ValidationError("Cannot tell the format from '\(path)': use .jpg or .png.")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await CommandError.reporting {
            try await RelayClient.with(relay) { client in
                let session = try await selector.address(client)
                try await Snapshot(session: session, format: format ?? .jpeg, isFresh: fresh).write(to: path, client)
            }
        }
    }
}
