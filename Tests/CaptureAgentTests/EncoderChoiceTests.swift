import CaptureAgent
import Media
import Testing

@Suite("The choice of an encoder")
struct EncoderChoiceTests {
    private static let second: UInt64 = 1_000_000_000
    private static let error = EncoderError.failed(encoder: "any")

    @Test("takes the best, once more when it fails, then the next")
    func nextBest() {
        var choice = EncoderChoice()
        let choices = ["gpu", "x264"]
        #expect(step(&choice, choices, at: 0) == .use("gpu"))
        choice.opened(at: 0)
        choice.failed(Self.error, at: 1)
        #expect(step(&choice, choices, at: 1) == .use("gpu"))
        choice.opened(at: 1)
        choice.failed(Self.error, at: 2)
        #expect(step(&choice, choices, at: 2) == .use("x264"))
        #expect(choice.dismissals == [Self.error])
    }

    @Test("continues at once if the best cannot be opened")
    func refusal() {
        var choice = EncoderChoice()
        #expect(step(&choice, ["gpu", "x264"], at: 0) == .use("gpu"))
        choice.refused(Self.error, at: 0)
        #expect(step(&choice, ["gpu", "x264"], at: 0) == .use("x264"))
        choice.refused(Self.error, at: 0)
        #expect(step(&choice, ["gpu", "x264"], at: 0) == .stop(Self.error))
    }

    @Test("the failures of an encoder that has worked for long are forgotten")
    func settled() {
        var choice = EncoderChoice()
        let choices = ["gpu", "x264"]
        var now: UInt64 = 0
        for _ in 0..<10 {
            #expect(step(&choice, choices, at: now) == .use("gpu"))
            choice.opened(at: now)
            now += EncoderChoice.settlingTime
            choice.failed(Self.error, at: now)
        }
        #expect(step(&choice, choices, at: now) == .use("gpu"))
    }

    @Test("the only choice is tried again after growing pauses, then given up")
    func pauses() {
        var choice = EncoderChoice()
        var now: UInt64 = 0
        var pauses: [UInt64] = []
        for _ in 0...EncoderChoice.failureLimit {
            if case .pause(let until) = step(&choice, ["gpu"], at: now) {
                pauses.append((until - now) / 1_000_000)
                now = until
            }
            #expect(step(&choice, ["gpu"], at: now) == .use("gpu"))
            choice.opened(at: now)
            choice.failed(Self.error, at: now)
        }
        #expect(pauses == [250, 500, 1000, 2000, 2000])
        #expect(step(&choice, ["gpu"], at: now + 60 * Self.second) == .stop(Self.error))
        choice.settingsChanged()
        #expect(step(&choice, ["gpu"], at: now) == .use("gpu"))
    }

    @Test("a failure that may pass is retried without a limit, after growing pauses, and is reported")
    func passing() {
        for error in [EncoderError.tooLong(encoder: "x264"), .shortage(encoder: "x264", .threads("none"))] {
            var choice = EncoderChoice()
            var now: UInt64 = 0
            var pauses: [UInt64] = []
            for _ in 0..<20 {
                if case .pause(let until) = step(&choice, ["x264"], at: now) {
                    #expect(choice.trouble == error)
                    pauses.append((until - now) / 1_000_000)
                    now = until
                }
                #expect(step(&choice, ["x264"], at: now) == .use("x264"))
                // The failure can show in either way.
                if case .tooLong = error {
                    choice.opened(at: now)
                    choice.failed(error, at: now)
                } else {
                    choice.refused(error, at: now)
                }
            }
            #expect(pauses == [250, 500, 1000] + [UInt64](repeating: 2000, count: 15))
        }
    }

    @Test("a failure that may pass makes way for another choice, if there is one")
    func passingOver() {
        var choice = EncoderChoice()
        let error = EncoderError.tooLong(encoder: "gpu")
        for now in UInt64(0)..<2 {
            #expect(step(&choice, ["gpu", "x264"], at: now) == .use("gpu"))
            choice.opened(at: now)
            choice.failed(error, at: now)
        }
        #expect(step(&choice, ["gpu", "x264"], at: 2) == .use("x264"))
        #expect(choice.dismissals == [error])
    }

    @Test("hardware that turns out to work is preferred, hardware that failed is not")
    func preference() {
        var choice = EncoderChoice()
        #expect(step(&choice, ["x264"], at: 0) == .use("x264"))
        choice.opened(at: 0)
        #expect(!choice.prefersAnother(among: ["x264"]))
        #expect(choice.prefersAnother(among: ["gpu", "x264"]))
        choice.closed()
        #expect(step(&choice, ["gpu", "x264"], at: 1) == .use("gpu"))
        choice.refused(Self.error, at: 1)
        #expect(step(&choice, ["gpu", "x264"], at: 1) == .use("x264"))
        choice.opened(at: 1)
        #expect(!choice.prefersAnother(among: ["gpu", "x264"]))
    }

    private func step(_ choice: inout EncoderChoice, _ choices: [String], at now: UInt64) -> EncoderChoice.Step {
        choice.next(among: choices, at: now)
    }
}
