import Foundation

/// One measurement.
struct Sample: Codable {
    /// What was measured, such as 1280x720-30-scroll.
    var workload: String
    /// The contender.
    var contender: String
    var round: Int
    /// The values by name; names contain the units.
    var values: [String: Double]
    /// Why there are no values.
    var failure: String?
}

/// The measurements of one part: a file that is replaced after each of them.
final class Store {
    private struct Contents: Codable {
        var machine: Machine
        var samples: [Sample]
    }

    private let file: URL
    private var contents: Contents

    init(_ part: String, in folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("\(part).json")
        if let data = try? Data(contentsOf: file) {
            contents = try JSONDecoder().decode(Contents.self, from: data)
        } else {
            contents = Contents(machine: try Machine.current(), samples: [])
        }
    }

    /// Returns the results of a part, or `nil` if there are none.
    static func read(_ part: String, in folder: URL) throws -> (machine: Machine, samples: [Sample])? {
        guard let data = try? Data(contentsOf: folder.appendingPathComponent("\(part).json")) else { return nil }
        let contents = try JSONDecoder().decode(Contents.self, from: data)
        return (contents.machine, contents.samples)
    }

    func has(_ workload: String, _ contender: String, _ round: Int) -> Bool {
        contents.samples.contains {
            $0.workload == workload && $0.contender == contender && $0.round == round && $0.failure == nil
        }
    }

    /// Measures, unless there is a result, and keeps the result or the failure. The next run tries a failure again.
    func measure(
        _ workload: String,
        _ contender: String,
        _ round: Int,
        _ body: () async throws -> [String: Double]
    ) async throws {
        guard !has(workload, contender, round) else { return }
        var sample = Sample(workload: workload, contender: contender, round: round, values: [:])
        do {
            sample.values = try await body().filter { $0.value.isFinite }
            log("\(workload), \(contender), round \(round): \(Self.brief(sample.values))")
        } catch {
            sample.failure = "\(error)"
            log("\(workload), \(contender), round \(round) failed: \(error)")
        }
        contents.samples.removeAll {
            $0.workload == workload && $0.contender == contender && $0.round == round
        }
        contents.samples.append(sample)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(contents).write(to: file, options: .atomic)
    }

    private static func brief(_ values: [String: Double]) -> String {
        values.sorted { $0.key < $1.key }.map { "\($0.key) \(String(format: "%.4g", $0.value))" }.joined(
            separator: ", "
        )
    }
}
