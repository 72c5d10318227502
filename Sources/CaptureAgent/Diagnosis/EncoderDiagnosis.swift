import Glibc
import Media
package import Program
import Wire

/// A check of which encoders work on this machine, and why no hardware encoder does.
package struct EncoderDiagnosis {
    private let entries: [EncoderEntry]
    /// The device files of graphics hardware that can encode.
    private let renderNodes: [String]

    package init() {
        self.init(entries: EncoderEntry.listed, renderNodes: EncoderEntry.files(matching: ["/dev/dri/renderD*"]))
    }

    package init(entries: [EncoderEntry], renderNodes: [String]) {
        self.entries = entries
        self.renderNodes = renderNodes
    }

    /// Tries every encoder once, which takes seconds with some drivers.
    package func findings() -> [Finding] {
        let catalogue = EncoderCatalogue(entries: entries)
        let reports = entries.map { catalogue.report(on: $0) }
        return [encoders(reports), hardware(reports)]
    }

    private func encoders(_ reports: [EncoderReport]) -> Finding {
        let working = reports.filter(\.available).map(\.name).joined(separator: ", ")
        let lacking = Set(reports.map(\.codec)).subtracting(reports.filter(\.available).map(\.codec))
        guard lacking.isEmpty else {
            let codecs = lacking.map(\.rawValue).sorted().joined(separator: ", ")
            let reasons = reports.filter { lacking.contains($0.codec) }.map { "\($0.name): \($0.reason ?? "")" }
            return Finding(
                "encoders",
                .failure,
                "Nothing encodes \(codecs) here: \(reasons.joined(separator: "; ")).",
                advice: "Install libx264 and libx265 as the agent was built with them."
            )
        }
        return Finding("encoders", .ok, "These encoders work: \(working).")
    }

    private func hardware(_ reports: [EncoderReport]) -> Finding {
        let hardware = reports.filter { report in entries.contains { $0.name == report.name && $0.kind == .hardware } }
        if hardware.contains(where: \.available) { return Finding("hardware", .ok, "Hardware encodes.") }
        let refused = renderNodes.filter { access($0, R_OK | W_OK) != 0 }
        if !refused.isEmpty {
            return Finding(
                "hardware",
                .warning,
                "This user may not open \(refused.joined(separator: ", ")); software encodes.",
                advice: "Add the agent's user to the groups that own them, usually render and video, and log in again."
            )
        }
        guard !renderNodes.isEmpty else {
            return Finding("hardware", .ok, "This machine has no render node; software encodes.")
        }
        let reasons = hardware.map { "\($0.name): \($0.reason ?? "")" }.joined(separator: "; ")
        return Finding(
            "hardware",
            .warning,
            "No hardware encoder works; software encodes. \(reasons).",
            advice:
                "Install the hardware's driver for VA-API, such as intel-media-va-driver or mesa-va-drivers, and libavcodec."
        )
    }
}
