import ArgumentParser
import HeliographAPI

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Changes a session while it runs; its viewers stay.",
        discussion: """
            What is not named stays. A new size begins with a keyframe.
              heliograph set 1 --bitrate 2000000 --fps 15
              heliograph set 1 --width 640 --height source
              heliograph set 1 --on-demand --join live
            """
    )

    @OptionGroup var address: RelayAddress

    @Argument(help: "The session's id.")
    var id: UInt32

    @Option(help: ArgumentHelp("Bits per second, 50000 to 100000000.", valueName: "bit/s"))
    var bitrate: Int?

    @Option(help: ArgumentHelp("Pictures per second, 1 to 240.", valueName: "n"))
    var fps: Int?

    @Option(help: ArgumentHelp("The picture's width, 16 to 8192, or source to follow the source.", valueName: "pixels"))
    var width = SessionChange.Bound.stays

    @Option(help: ArgumentHelp("The picture's height, likewise.", valueName: "pixels"))
    var height = SessionChange.Bound.stays

    @Option(
        help: ArgumentHelp("Bound of width times height, 256 to 67108864, or source for none.", valueName: "pixels")
    )
    var maxPixels = SessionChange.Bound.stays

    @Option(help: "Where viewers begin who do not say: cache or live.")
    var join: Join?

    @Flag(inversion: .prefixedNo, help: "Whether to encode only while somebody watches.")
    var onDemand: Bool?

    private var change: SessionChange {
        var change = SessionChange()
        change.bitrate = bitrate
        change.fps = fps
        (change.width, change.height, change.maxPixels) = (width, height, maxPixels)
        change.join = join
        change.onDemand = onDemand
        return change
    }

    func validate() throws {
        guard change != SessionChange() else {
            throw ValidationError(
                "nothing to change: give --bitrate, --fps, --width, --height, --max-pixels, --join or --on-demand"
            )
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(address) { client in
                print(Summary.text(of: try await client.report(of: Routes.changeSession, change, session: id)))
            }
        }
    }
}
