import Foundation

/// The samples of a part, for medians and ratios.
struct Figures {
    var machine: Machine
    var samples: [Sample]

    /// - Returns: `nil` if nothing of this part has been measured.
    init?(_ part: String, in folder: URL) throws {
        guard let (machine, samples) = try Store.read(part, in: folder) else { return nil }
        self.machine = machine
        self.samples = samples
    }

    func values(_ workload: String, _ contender: String, _ name: String) -> Samples {
        Samples(samples.filter { $0.workload == workload && $0.contender == contender }.compactMap { $0.values[name] })
    }

    /// Ratios of two contenders, each within one round, so that both met the same neighbours.
    func ratios(_ workload: String, _ name: String, of one: String, to other: String) -> Samples {
        let divisors = samples.filter { $0.workload == workload && $0.contender == other }
        return Samples(
            samples.filter { $0.workload == workload && $0.contender == one }.compactMap { sample in
                guard let value = sample.values[name],
                    let divisor = divisors.first(where: { $0.round == sample.round })?.values[name], divisor > 0
                else { return nil }
                return value / divisor
            }
        )
    }

    /// Median, least and greatest; a dash without any.
    func cell(_ workload: String, _ contender: String, _ name: String) -> String {
        values(workload, contender, name).cell
    }

    var contenders: [String] { unique(samples.map(\.contender)) }

    var workloads: [String] { unique(samples.map(\.workload)) }

    var rounds: Int { samples.map(\.round).max() ?? 0 }

    private func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
}

extension Samples {
    /// Median, and least to greatest.
    var cell: String {
        guard !values.isEmpty else { return "–" }
        return values.count == 1 || least == greatest
            ? Self.number(median) : "\(Self.number(median)) (\(Self.number(least)) to \(Self.number(greatest)))"
    }

    /// Formats three significant digits.
    static func number(_ value: Double) -> String {
        guard value.isFinite, value != 0 else { return value == 0 ? "0" : "–" }
        let digits = max(0, 2 - Int(log10(abs(value)).rounded(.down)))
        return String(format: "%.\(min(digits, 4))f", value)
    }
}
