import HeliographAPI

/// What a program waits for, as ``Screen/wait(_:timeout:)`` takes it.
///
///     var condition = ScreenCondition.static(for: .seconds(2))
///     condition.ignored = [.init(x: 1180, y: 0, width: 100, height: 20)]
public struct ScreenCondition: Sendable {
    private let goal: ScreenWait.Goal
    private var time: Duration?
    private var template: (name: String, x: Int, y: Int)?
    private var threshold: Double?

    /// The part of the screen that counts; `nil` for all of it.
    public var region: Region?
    /// Parts that do not count, such as a clock's.
    public var ignored: [Region] = []
    /// How far a pixel's red, green or blue may be from what it is compared with, 0 to 255.
    public var tolerance: Int?
    /// The share of pixels that may be further from it, 0 to 1.
    public var share: Double?
    /// Only pictures after this one count, also those from before the call: a PTS, µs. Not together with
    /// ``region``, ``ignored``, ``tolerance``, ``share`` or a template.
    public var after: Int64?

    private init(_ goal: ScreenWait.Goal, for time: Duration? = nil) { (self.goal, self.time) = (goal, time) }

    /// The screen changes.
    ///
    /// - Parameter time: How long it must be static afterwards.
    public static func changed(thenStaticFor time: Duration = .zero) -> Self { Self(.changed, for: time) }

    /// The screen is static for a time, which may have begun before the call.
    public static func `static`(for time: Duration = .seconds(1)) -> Self { Self(.static, for: time) }

    /// The screen shows a template, whose top left corner is at this place: see ``Device/upload(_:asTemplate:)``.
    public static func matches(_ template: String, at place: (x: Int, y: Int)) -> Self {
        var condition = Self(.matches)
        condition.template = (template, place.x, place.y)
        return condition
    }

    /// The screen does not show a template.
    public static func gone(_ template: String, at place: (x: Int, y: Int)) -> Self {
        var condition = Self(.gone)
        condition.template = (template, place.x, place.y)
        return condition
    }

    /// The device plays sound.
    ///
    /// - Parameters:
    ///   - time: How long it must last.
    ///   - threshold: From which level on sound counts, in dB below full scale, -120 to 0.
    public static func sound(for time: Duration = .zero, threshold: Double = -50) -> Self {
        var condition = Self(.sound, for: time)
        condition.threshold = threshold
        return condition
    }

    /// The device plays no sound from the call on, likewise.
    public static func silence(for time: Duration = .seconds(1), threshold: Double = -50) -> Self {
        var condition = Self(.silence, for: time)
        condition.threshold = threshold
        return condition
    }

    /// A part of a screen, in pixels of its snapshots.
    public struct Region: Sendable, Hashable {
        public var x, y, width, height: Int

        public init(x: Int, y: Int, width: Int, height: Int) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }

        fileprivate var text: String { "\(x),\(y),\(width),\(height)" }
    }

    fileprivate func query(_ timeout: Duration) -> ScreenWait {
        var query = ScreenWait()
        query.until = goal
        query.timeout = timeout.seconds
        query.for = time?.seconds
        query.after = after
        query.region = region?.text
        if !ignored.isEmpty { query.ignore = ignored.map(\.text).joined(separator: ";") }
        (query.tolerance, query.share, query.threshold) = (tolerance, share, threshold)
        if let template { (query.template, query.at) = (template.name, "\(template.x),\(template.y)") }
        return query
    }

    /// What did not happen, as part of a sentence.
    fileprivate var absence: String {
        switch goal {
        case .changed: "the screen did not change"
        case .static: "the screen was not static for \(time?.seconds ?? 1) s"
        case .matches: "the screen did not show \(template?.name ?? "the template")"
        case .gone: "the screen showed \(template?.name ?? "the template") all the time"
        case .sound: "there was no sound"
        case .silence: "it was not silent for \(time?.seconds ?? 1) s"
        }
    }
}

/// What a program has waited for.
public struct ScreenMatch: Sendable {
    /// Since when: of the frame or the sound, on the session's clock, µs. Give it to ``ScreenCondition/after``.
    public let pts: Int64?
    /// What changed last, or where the template is; `nil` if no pixels were compared.
    public let box: ScreenCondition.Region?
    /// How long it took from the call to the answer.
    public let waited: Duration
}

/// The longest wait, s.
private let longestWait = 600.0

extension Screen {
    /// Waits until the screen, or the device's sound, is as the condition says.
    ///
    ///     try await screen.wait(.changed(thenStaticFor: .seconds(1)))
    ///
    /// - Throws: ``RelayError``: of the kind `notHappened` if it was not so within `timeout`, at most 600 s.
    @discardableResult
    public func wait(
        _ condition: ScreenCondition,
        timeout: Duration = .seconds(30)
    ) async throws(RelayError) -> ScreenMatch {
        let report = try await relay.answer(
            to: Routes.waitForScreen,
            condition.query(timeout),
            at: place.session,
            timeout: timeout + RelayClient.answerTime
        ).report()
        let outcome = ScreenWaitReport.Outcome(rawValue: report.outcome)
        guard outcome != .ended else {
            let text = "the session has ended, or no longer has that part of the screen"
            throw RelayError(.ended, text, code: report.outcome)
        }
        guard outcome == .happened else {
            let device = "of \(report.device)"
            let why = outcome == .sourceLost ? ", because no source delivers" : ""
            throw RelayError(
                .notHappened,
                "\(condition.absence.replacing("the screen", with: "the screen \(device)")) within "
                    + "\(timeout.seconds) s\(why)",
                code: report.outcome
            )
        }
        return ScreenMatch(
            pts: report.pts,
            box: report.box.map { ScreenCondition.Region(x: $0.x, y: $0.y, width: $0.width, height: $0.height) },
            waited: .seconds(max(0, min(report.waitedMs / 1000, longestWait + 60)))
        )
    }
}
