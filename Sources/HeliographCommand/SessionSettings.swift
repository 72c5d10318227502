import ArgumentParser
import HeliographAPI

/// The settings of a session that can be given at its start and changed while it runs.
struct SessionSettings: ParsableArguments {
    @Option(help: ArgumentHelp("Bits per second, 50000 to 100000000. Default of a start: 6000000.", valueName: "bit/s"))
    var bitrate: Int?

    @Option(help: ArgumentHelp("Pictures per second, 1 to 240. Default of a start: 30.", valueName: "n"))
    var fps: Int?

    @Option(
        help: ArgumentHelp(
            "Whom the bitrate follows: fixed, followSlowest or followFastest. Default of a start: fixed.",
            valueName: "how"
        )
    )
    var adapt: Adaptation?

    @Option(help: ArgumentHelp("The least that adapt leaves. Default of a start: 150000.", valueName: "bit/s"))
    var minBitrate: Int?

    @Option(
        help: ArgumentHelp(
            "The picture's width, 16 to 8192, or source to follow the source. Default of a start: source.",
            valueName: "pixels"
        )
    )
    var width: SessionChange.Bound?

    @Option(
        help: ArgumentHelp(
            "The picture's height, 16 to 8192, or source to follow the source. Default of a start: source.",
            valueName: "pixels"
        )
    )
    var height: SessionChange.Bound?

    @Option(
        help: ArgumentHelp(
            "Bound of width times height, 256 to 67108864, or source for none. Default of a start: none.",
            valueName: "pixels"
        )
    )
    var maxPixels: SessionChange.Bound?

    @Option(help: "Where viewers start by default: cache or live. Default of a start: cache.")
    var join: Join?

    @Flag(inversion: .prefixedNo, help: "Whether to encode only while a viewer watches. Default of a start: no.")
    var onDemand: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether to record into the relay's library. Default of a start: no.")
    var record: Bool?

    @Option(
        help: ArgumentHelp(
            "When to record: always, watched or changed. Default of a start: always.",
            valueName: "when"
        )
    )
    var recordWhen: RecordWhen?

    /// The settings that were given.
    var change: SessionChange {
        var change = SessionChange()
        change.bitrate = bitrate
        change.fps = fps
        (change.adapt, change.minBitrate) = (adapt, minBitrate)
        change.width = width ?? .stays
        change.height = height ?? .stays
        change.maxPixels = maxPixels ?? .stays
        change.join = join
        change.onDemand = onDemand
        change.record = record
        change.recordWhen = recordWhen
        return change
    }
}
