import ArgumentParser
import CommandSupport
import Glibc
import HeliographAPI
import HeliographClient
import NIOCore

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Waits until a session's screen changes, is static, or shows a template, or for its device's sound.",
        discussion: """
            It ends with 0 when that happens, and with 75 when it does not in time. A screen may be static already, or show the
            template; changes count from now on, or after the PTS that an earlier wait named in its --json. A --device alone
            means the session that the device's viewers share, which the relay may start for you.
              heliograph wait door --until static --for 2 --ignore 1180,0,100,20
              heliograph wait door --until changed --region 0,40,640,480 --tolerance 8
              heliograph wait door --until matches --template dialog.png --at 412,300
              heliograph wait door --until sound --threshold -40
            A template is a PNG picture, cut out of a snapshot. Coordinates are pixels of the session's snapshots.
            """
    )

    @OptionGroup var relay: RelayAddress
    @OptionGroup var selector: SessionSelector
    @OptionGroup var format: AnswerFormat

    @Option(
        help: """
            What to wait for: changed, static, matches (the screen shows the template), gone (it does not), sound or silence.
            """
    )
    var until: ScreenWait.Goal

    @Option(help: ArgumentHelp("How long to wait, 0 to 600.", valueName: "s"))
    var timeout = 30.0

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "How long the screen must be unchanged, or the sound or silence must last, 0 to 600. Default: 1 with static and "
                + "silence, 0 with changed and sound.",
            valueName: "s"
        )
    )
    var staticTime: Double?

    @Option(
        help: ArgumentHelp("Only pictures after this PTS count. Not with options that compare pixels.", valueName: "µs")
    )
    var after: Int64?

    @Option(
        help: ArgumentHelp("The part of the screen that counts. Default: all of it.", valueName: "x,y,width,height"),
        transform: Self.region
    )
    var region: String?

    @Option(
        help: ArgumentHelp(
            "A part that does not count, such as a clock's. May be given up to 32 times.",
            valueName: "x,y,width,height"
        ),
        transform: Self.region
    )
    var ignore: [String] = []

    @Option(
        help: ArgumentHelp(
            "How far a pixel's red, green or blue may be from what it is compared with, 0 to 255. Default: 0.",
            valueName: "n"
        )
    )
    var tolerance: Int?

    @Option(
        help: ArgumentHelp("The share of pixels that may be further from it, 0 to 1. Default: 0.", valueName: "part")
    )
    var share: Double?

    @Option(
        help: ArgumentHelp(
            "With matches and gone: a PNG file, which is uploaded if the relay does not have it, or the name of a template "
                + "that it has.",
            valueName: "file.png or name"
        ),
        completion: .file(extensions: ["png"])
    )
    var template: String?

    @Option(
        help: ArgumentHelp("Where the template's top left corner is.", valueName: "x,y"),
        transform: { text in
            guard text.place != nil else {
                throw ValidationError("'\(text)' is not a place: use x,y in pixels of a snapshot, such as 412,300.")
            }
            return text
        }
    )
    var at: String?

    @Option(
        help: ArgumentHelp(
            "With sound and silence: from which level on sound counts, -120 to 0, below full scale. Default: -50.",
            valueName: "dB"
        )
    )
    var threshold: Double?

    private static func region(_ text: String) throws -> String {
        guard text.region != nil else {
            throw ValidationError(
                "'\(text)' is not a region: use x,y,width,height in pixels of a snapshot, such as 0,40,200,30."
            )
        }
        return text
    }

    func validate() throws {
        try selector.check()
        guard (0...600).contains(timeout) else {
            throw ValidationError("--timeout is \(timeout). Allowed: 0 to 600 s.")
        }
        if let staticTime, !(0...600).contains(staticTime) {
            throw ValidationError("--for is \(staticTime). Allowed: 0 to 600 s.")
        }
        if let after, after < 0 { throw ValidationError("--after is \(after). A PTS is not negative.") }
        if let tolerance, !(0...255).contains(tolerance) {
            throw ValidationError("--tolerance is \(tolerance). Allowed: 0 to 255.")
        }
        if let share, !(0...1).contains(share) { throw ValidationError("--share is \(share). Allowed: 0 to 1.") }
        guard ignore.count <= 32 else { throw ValidationError("--ignore is given \(ignore.count) times, at most 32.") }
        if let threshold, !(-120...0).contains(threshold) {
            throw ValidationError("--threshold is \(threshold). Allowed: -120 to 0 dB.")
        }
        try checkTemplate()
        try checkSound()
        guard after == nil || !query(template: template).comparesPixels else {
            throw ValidationError(
                "--after does not go with --region, --ignore, --tolerance, --share and --template: those compare pixels."
            )
        }
    }

    private func checkTemplate() throws {
        switch until {
        case .matches, .gone:
            guard template != nil, at != nil else {
                throw ValidationError("--until \(until.rawValue) needs --template and --at.")
            }
            guard region == nil, ignore.isEmpty, staticTime == nil else {
                throw ValidationError("--region, --ignore and --for do not go with --until \(until.rawValue).")
            }
        case .changed, .static, .sound, .silence:
            guard template == nil, at == nil else {
                throw ValidationError("--template and --at go with --until matches and --until gone.")
            }
        }
    }

    private func checkSound() throws {
        let query = query(template: nil)
        guard query.isForSound else {
            if threshold != nil { throw ValidationError("--threshold goes with --until sound and --until silence.") }
            return
        }
        if query.comparesPixels || after != nil {
            throw ValidationError(
                "--region, --ignore, --tolerance, --share and --after do not go with --until \(until.rawValue)."
            )
        }
    }

    private func query(template: String?) -> ScreenWait {
        var query = ScreenWait()
        (query.until, query.timeout, query.for, query.after) = (until, timeout, staticTime, after)
        (query.region, query.tolerance, query.share) = (region, tolerance, share)
        query.ignore = ignore.isEmpty ? nil : ignore.joined(separator: ";")
        (query.template, query.at, query.threshold) = (template, at, threshold)
        return query
    }

    func run() async throws {
        let limit = Duration.seconds(timeout) + RelayClient.answerTime
        try await CommandError.reporting {
            // Read first, so that a bad file costs no call.
            let file = try template.flatMap { TemplateFile.isPath($0) ? $0 : nil }.map(TemplateFile.init)
            try await RelayClient.with(relay) { client in
                let session = try await selector.address(client)
                let name = try await file?.uploadOnce(to: session.device(client), client) ?? template
                let answer = try await client.answer(
                    to: Routes.waitForScreen,
                    query(template: name),
                    at: session,
                    timeout: limit
                )
                let report = try answer.report()
                guard report.outcome != ScreenWaitReport.Outcome.happened.rawValue else {
                    return try format.show(answer, text)
                }
                if format.json { print(answer.text) }
                throw failure(report)
            }
        }
    }

    // MARK: What came of it

    private func text(of report: ScreenWaitReport) -> String {
        let session = Summary.name(of: report.id, report.name)
        let seconds = [Double(report.pts ?? 0) / 1e6, report.waitedMs / 1000, (report.staticMs ?? 0) / 1000]
            .map { Figure.text($0, places: 3) + " s" }
        let end = "PTS \(seconds[0]), waited \(seconds[1])"
        switch until {
        case .changed:
            let box = report.box.map { " in \($0.x),\($0.y),\($0.width),\($0.height)" } ?? ""
            return "\(session): changed\(box) at \(end)"
        case .static: return "\(session): static for \(seconds[2]), since \(end)"
        case .matches: return "\(session): shows \(template ?? "") since \(end)"
        case .gone: return "\(session): \(template ?? "") is gone since \(end)"
        case .sound: return "\(session): sound since \(end)"
        case .silence: return "\(session): silent for \(seconds[2]), since \(end)"
        }
    }

    private func failure(_ report: ScreenWaitReport) -> CommandError {
        let session = Summary.name(of: report.id, report.name)
        let time = "within \(Summary.shortest(timeout)) s"
        let part = region.map { "the part \($0) of the screen" } ?? "the screen"
        let statement =
            switch until {
            case .changed: "\(part) did not change \(time)"
            case .static:
                "\(part) was not static for \(Summary.shortest(query(template: nil).staticTime)) s \(time)"
            case .matches: "the screen did not show \(template ?? "") at \(at ?? "") \(time)"
            case .gone:
                "the screen showed \(template ?? "") at \(at ?? "") all the time, \(Summary.shortest(timeout)) s"
            case .sound: "there was no such sound \(time)"
            case .silence: "it was not silent for \(Summary.shortest(query(template: nil).staticTime)) s \(time)"
            }
        switch ScreenWaitReport.Outcome(rawValue: report.outcome) {
        case .timeout, .happened:
            return CommandError(description: "\(session): \(statement)", exitCode: EX_TEMPFAIL)
        case .sourceLost:
            return CommandError(
                description: "\(session): \(statement), because no source delivers its "
                    + (query(template: nil).isForSound ? "sound: " : "pictures: ")
                    + "`heliograph status --device \(report.device)` says why",
                exitCode: EX_TEMPFAIL
            )
        case .ended:
            return .failed("\(session) has ended, or no longer has that part of the screen")
        case nil:
            return .failed("\(session): the wait's outcome is '\(report.outcome)', which this release does not know")
        }
    }
}
