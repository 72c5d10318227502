package import Program
import Wire

/// A check of whether the desktop's sound can be captured, and how late it would be. Nothing is captured.
package enum SoundDiagnosis {
    private static let check = "sound"
    /// With steps of more samples, sound takes longer than the goals of docs/design/audio.md.
    private static let goodQuantum = 256

    /// What `heliograph doctor` shows; `nil` if PipeWire does not answer, which another check says.
    static func finding() -> Finding? {
        guard let connection = try? PipeWireConnection(to: .session) else { return nil }
        defer { connection.shutDown() }
        guard let globals = try? connection.globals() else { return nil }
        let sinks = globals.filter { $0.isNode && $0.properties["media.class"] == "Audio/Sink" }
        return finding(
            sinks: sinks.compactMap { $0.properties["node.name"] },
            leastQuantum: connection.leastQuantum,
            aacProblem: aacProblem
        )
    }

    /// Why there is no encoder of AAC.
    private static var aacProblem: String? {
        do throws(SoundEncoderError) {
            _ = try AACSoundEncoder(SoundCoding())
            return nil
        } catch {
            return error.reason
        }
    }

    /// - Parameters:
    ///   - sinks: The names of PipeWire's sinks.
    ///   - leastQuantum: The fewest samples that PipeWire's graph handles at once; `nil` if unknown.
    ///   - aacProblem: Why there is no encoder of AAC; `nil` if there is one.
    package static func finding(sinks: [String], leastQuantum: Int?, aacProblem: String? = nil) -> Finding {
        guard !sinks.isEmpty else {
            return Finding(
                check,
                .warning,
                "Programs cannot play sound: PipeWire has no sink.",
                advice: "If you want sound, audio: virtual makes a sink: docs/guide/audio.md."
            )
        }
        if let leastQuantum, leastQuantum > goodQuantum {
            let time = leastQuantum * 1000 / SoundSamples.rate
            return Finding(
                check,
                .warning,
                "Sound can be captured, late: PipeWire handles at least \(leastQuantum) samples (\(time) ms) at once, as "
                    + "it does by default in a virtual machine.",
                advice: "Set default.clock.min-quantum = \(goodQuantum) in PipeWire's configuration: "
                    + "docs/guide/audio.md, Delay."
            )
        }
        if let aacProblem {
            return Finding(
                check,
                .warning,
                "Sound can be captured, but only as Opus: \(aacProblem).",
                advice: "Players that need AAC need libavcodec with its encoder aac. All others play Opus."
            )
        }
        return Finding(check, .ok, "Sound can be captured. The sinks are: \(sinks.sorted().joined(separator: ", ")).")
    }
}
