import ArgumentParser
import NIOCore

struct SetCommand: AsyncParsableCommand {
    /// A bound of the picture, or none.
    private enum Bound: ExpressibleByArgument, Encodable {
        case source
        case value(Int)

        init?(argument: String) {
            if argument == "source" {
                self = .source
            } else if let value = Int(argument) {
                self = .value(value)
            } else {
                return nil
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .source: try container.encodeNil()
            case .value(let value): try container.encode(value)
            }
        }
    }

    private enum Join: String, ExpressibleByArgument, CaseIterable, Encodable {
        case cache, live
    }

    private struct Body: Encodable {
        let bitrate: Int?
        let fps: Int?
        let width: Bound?
        let height: Bound?
        let maxPixels: Bound?
        let join: Join?
        let onDemand: Bool?
    }

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
    private var width: Bound?

    @Option(help: ArgumentHelp("The picture's height, likewise.", valueName: "pixels"))
    private var height: Bound?

    @Option(
        help: ArgumentHelp("Bound of width times height, 256 to 67108864, or source for none.", valueName: "pixels")
    )
    private var maxPixels: Bound?

    @Option(help: "Where viewers begin who do not say: cache or live.")
    private var join: Join?

    @Flag(inversion: .prefixedNo, help: "Whether to encode only while somebody watches.")
    var onDemand: Bool?

    func validate() throws {
        let bounds = [width, height, maxPixels]
        guard bitrate != nil || fps != nil || bounds.contains(where: { $0 != nil }) || join != nil || onDemand != nil
        else {
            throw ValidationError(
                "nothing to change: give --bitrate, --fps, --width, --height, --max-pixels, --join or --on-demand"
            )
        }
    }

    func run() async throws {
        let body = Body(
            bitrate: bitrate,
            fps: fps,
            width: width,
            height: height,
            maxPixels: maxPixels,
            join: join,
            onDemand: onDemand
        )
        try await CommandError.reporting {
            try await RelayClient.with(address) { client in
                let bytes = try await client.patch("/screencapture/\(id)", body: body)
                print(Summary.text(of: try client.decode(SessionAnswer.self, from: bytes)))
            }
        }
    }
}
