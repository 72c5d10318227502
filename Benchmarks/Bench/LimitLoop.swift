import Foundation
import Media
import TestSupport

/// One run of the loop of Benchmarks/LimitLoop.
struct LimitLoop: Decodable {
    enum Variant: String {
        /// The agent's own colour conversion.
        case own
        case libyuv
        /// The same picture encoded again and again.
        case still
        /// Encodes nothing, but writes a small packet for each slot.
        case packets
    }

    var pictures: Int
    var cpuNs: Int64
    var bytes: Int64
    /// The time from each picture's arrival to its encoding.
    var latencyNs: [Int64]

    /// CPU time of a picture, ms.
    var cpuPerPicture: Double { Double(cpuNs) / Double(pictures) / 1e6 }

    /// - Parameter output: The file for the whole stream; `nil` to discard it.
    static func run(_ variant: Variant, _ workload: Workload, output: URL? = nil) throws -> LimitLoop {
        let numbers = [
            workload.size.width, workload.size.height,
            variant == .packets || variant == .still ? workload.fps : workload.steps,
            workload.seconds, workload.bitrate,
        ]
        let outcome = try Programs.run(
            Programs.product("LimitLoop"),
            numbers.map(String.init) + (variant == .own ? [] : ["--\(variant.rawValue)"]) + ["--scene", workload.drawn]
                + (output.map { ["--output", $0.path] } ?? [])
        )
        guard outcome.status == 0 else { throw BenchError(description: outcome.errors) }
        return try JSONDecoder().decode(LimitLoop.self, from: Data(outcome.output.utf8))
    }
}
