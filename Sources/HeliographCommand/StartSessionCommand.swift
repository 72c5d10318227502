import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import Media
import Program

struct StartSessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "start",
        abstract: "Starts the session of this name, or changes it to match the options.",
        discussion: """
            An option that you leave out means its default, also for a session that runs: see `heliograph session set` for
            changing one thing. What cannot change while a session runs is refused. A session may start before the broadcast.
              heliograph session start door --width 640 --ttl 600
            """
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    @Argument(
        help: "The session's name: \(String.nameRule), not a number.",
        completion: .custom(Completions.sessionNames)
    )
    var name: String

    @Option(help: "What to encode: h264 or h265. Default: h264.")
    var codec: Codec?

    @Option(
        help: "Whether four pixels share a colour, 420, or each has its own, 444: sharper coloured text. Default: 420."
    )
    var chroma: ChromaSampling?

    @Option(help: ArgumentHelp("What to encode with, such as x264. Default: auto.", valueName: "name"))
    var encoder: String?

    @OptionGroup var settings: SessionSettings

    @Option(
        help: ArgumentHelp(
            "The session ends after this long without use, 1 to 86400. Default: never.",
            valueName: "s"
        )
    )
    var ttl: Int?

    @Option(help: ArgumentHelp("A description, at most 100 characters.", valueName: "text"))
    var label: String?

    @Flag(inversion: .prefixedNo, help: "Whether the last picture repeats while the screen is static.")
    var `repeat` = true

    @Option(help: ArgumentHelp("Longest time between keyframes, 0.2 to 60. Default: 2.", valueName: "s"))
    var keyframeInterval: Double?

    @Option(
        help: ArgumentHelp("The same while the screen is static, 0.2 to 600. Default: 10.", valueName: "s")
    )
    var staticKeyframeInterval: Double?

    @Option(help: "How the session's TCP port delimits pictures: annexb or scrcpy. Default: annexb.")
    var framing: Framing?

    @Option(help: ArgumentHelp("The session's TCP port. Default: the first free one from 9200 on.", valueName: "port"))
    var port: Int?

    private var request: SessionRequest {
        var request = settings.change.applied(to: SessionRequest())
        request.codec = codec ?? request.codec
        request.chroma = chroma ?? request.chroma
        request.encoder = encoder ?? request.encoder
        (request.ttl, request.label, request.repeat) = (ttl, label, `repeat`)
        request.keyframeInterval = keyframeInterval ?? request.keyframeInterval
        request.staticKeyframeInterval =
            staticKeyframeInterval ?? max(request.staticKeyframeInterval, request.keyframeInterval)
        request.framing = framing ?? request.framing
        request.port = port ?? request.port
        return request
    }

    func validate() throws {
        guard name.isName else {
            throw ValidationError("'\(name)' is not a session's name: use \(String.nameRule).")
        }
        // A number as a name would be taken for an id.
        guard UInt32(name) == nil else {
            throw ValidationError("'\(name)' is a number, as ids are: put a letter into the session's name.")
        }
        guard name != WatchCommand.own else {
            throw ValidationError("'\(name)' is reserved for sessions of `heliograph watch`: choose another name.")
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let place = CallPlace.named(name, of: try await client.deviceName(options.device))
                let answer = try await client.answer(to: Routes.putSession, request, at: place)
                try format.show(answer) { session in
                    "\(answer.status == 201 ? "started" : "changed") \(Summary.text(of: session))"
                }
            }
        }
    }
}
