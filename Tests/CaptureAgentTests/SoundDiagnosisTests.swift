import CaptureAgent
import Program
import Testing

@Suite("Diagnosis of sound")
struct SoundDiagnosisTests {
    @Test("a sink and short steps are enough")
    func sound() {
        for quantum in [nil, 16, 256] {
            let finding = SoundDiagnosis.finding(sinks: ["hdmi", "analog"], leastQuantum: quantum)
            #expect(finding.verdict == .ok && finding.statement.contains("analog, hdmi"))
        }
    }

    @Test("long steps are a warning, which says how long and what to set")
    func late() {
        let finding = SoundDiagnosis.finding(sinks: ["hdmi"], leastQuantum: 1024)
        #expect(finding.verdict == .warning && finding.statement.contains("1024 samples (21 ms)"))
        #expect(finding.advice?.contains("default.clock.min-quantum = 256") == true)
    }

    @Test("a missing encoder of AAC is a warning, which says why")
    func noAAC() {
        let finding = SoundDiagnosis.finding(sinks: ["hdmi"], leastQuantum: 256, aacProblem: "there is no libavcodec")
        #expect(finding.verdict == .warning && finding.statement.contains("only as Opus: there is no libavcodec"))
    }

    @Test("no sink is a warning, which says how to make one")
    func noSink() {
        let finding = SoundDiagnosis.finding(sinks: [], leastQuantum: nil)
        #expect(finding.verdict == .warning && finding.advice?.contains("audio: virtual") == true)
    }
}
