import CaptureAgent
import Media
import Program
import Testing
import Wire

@Suite("Diagnosis of encoders")
struct EncoderDiagnosisTests {
    private static let absent = EncoderEntry(name: "gpu", codec: .h264, kind: .hardware, obstacle: { "no device" }) {
        _ throws(EncoderError) in
        throw EncoderError.unavailable(encoder: "gpu", reason: "no device")
    }

    private func verdicts(_ entries: [EncoderEntry], renderNodes: [String] = []) -> [Finding.Verdict] {
        EncoderDiagnosis(entries: entries, renderNodes: renderNodes).findings().map(\.verdict)
    }

    @Test("software is enough without hardware")
    func software() {
        #expect(verdicts([Self.absent, .x264, .x265]) == [.ok, .ok])
    }

    @Test("a codec that nothing encodes is a failure")
    func nothing() {
        let findings = EncoderDiagnosis(entries: [Self.absent, .x265], renderNodes: []).findings()
        #expect(findings[0].verdict == .failure)
        #expect(findings[0].statement.contains("h264") && findings[0].statement.contains("no device"))
        #expect(findings[0].advice != nil)
    }

    @Test("hardware that is there and does not encode, or may not be opened, is a warning")
    func hardware() {
        #expect(verdicts([Self.absent, .x264], renderNodes: ["/dev/null"]) == [.ok, .warning])
        let findings = EncoderDiagnosis(entries: [Self.absent, .x264], renderNodes: ["/nonexistent"]).findings()
        #expect(findings[1].verdict == .warning)
        #expect(findings[1].statement.contains("/nonexistent"))
    }
}
