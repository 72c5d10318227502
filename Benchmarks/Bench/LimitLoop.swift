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
        /// Nothing encoded: a small packet written for each slot.
        case packets
    }

    var pictures: Int
    var cpuNs: Int64
    /// Of each picture, from its being there to its being encoded.
    var latencyNs: [Int64]

    /// CPU time of a picture, ms.
    var cpuPerPicture: Double { Double(cpuNs) / Double(pictures) / 1e6 }

    static func run(_ variant: Variant, _ workload: Workload) throws -> LimitLoop {
        let numbers = [
            workload.size.width, workload.size.height, workload.fps, workload.seconds, workload.bitrate,
        ]
        let outcome = try Programs.run(
            Programs.product("LimitLoop"),
            numbers.map(String.init) + (variant == .own ? [] : ["--\(variant.rawValue)"])
        )
        guard outcome.status == 0 else { throw BenchError(description: outcome.errors) }
        return try JSONDecoder().decode(LimitLoop.self, from: Data(outcome.output.utf8))
    }
}
