import Foundation
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("The reference of metrics")
struct MetricReferenceTests {
    private static let page = Programs.repository.appendingPathComponent("docs/reference/metrics.md")
    private static let isWritten = ProcessInfo.processInfo.environment["HELIOGRAPH_WRITE_REFERENCE"] != nil

    private static var families: [String: MetricFamily] {
        Dictionary(RelayMetrics.families.map { ($0.name, $0) }) { first, _ in first }
    }

    @Test("in docs/reference/metrics.md is what the code declares; Scripts/settings-reference writes it")
    func page() throws {
        var page = try String(contentsOf: Self.page, encoding: .utf8)
        let begin = try #require(page.range(of: "<!-- metrics -->\n"))
        let end = try #require(page.range(of: "<!-- end of metrics -->\n"))
        if Self.isWritten {
            page.replaceSubrange(begin.upperBound..<end.lowerBound, with: MetricReference.table)
            try page.write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            #expect(page[begin.upperBound..<end.lowerBound] == MetricReference.table)
        }
    }

    @Test("names each family once, and counters end in _total")
    func names() {
        #expect(Self.families.count == RelayMetrics.families.count)
        for family in RelayMetrics.families {
            #expect(family.name.hasPrefix("heliograph_"))
            #expect((family.kind == .counter) == family.name.hasSuffix("_total"), "\(family.name)")
        }
    }

    @Test("has each family that a relay reports, with its type and labels")
    func reported() async throws {
        try await RunningRelay.run { relay in
            _ = try await relay.startSession()
            let lines = try await relay.get("/metrics").text.split(separator: "\n")
            let types = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ").map(String.init) }
            #expect(types.count > 30)
            for type in types { #expect(Self.families[type[2]]?.kind.rawValue == type[3], "\(type)") }
            for line in lines where !line.hasPrefix("#") {
                let name = String(line.prefix { $0 != "{" && $0 != " " })
                let labels = line.matches(of: /([a-z]+)="/).map { String($0.output.1) }.filter { $0 != "le" }
                #expect(Self.family(of: name)?.labels == labels, "\(line)")
            }
        }
    }

    @Test("has each metric that guides, alerts and the dashboard name", arguments: ["docs/guide", "Deploy/monitoring"])
    func users(folder: String) throws {
        let folder = Programs.repository.appendingPathComponent(folder)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for file in files where !file.hasDirectoryPath {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: /heliograph_[a-z_]+/) {
                #expect(Self.family(of: String(match.output)) != nil, "\(file.lastPathComponent): \(match.output)")
            }
        }
    }

    /// The family of the metric `name`, which may be one of a histogram's.
    private static func family(of name: String) -> MetricFamily? {
        if let family = families[name] { return family }
        let suffix = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) } ?? ""
        return families[String(name.dropLast(suffix.count))].flatMap { $0.kind == .histogram ? $0 : nil }
    }
}
