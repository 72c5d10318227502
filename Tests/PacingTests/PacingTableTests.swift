import Foundation
import PacingSimulation
import Testing

@Suite("The table of docs/design/reports/pacing.md")
struct PacingTableTests {
    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/design/reports/pacing.md")

    /// If HELIOGRAPH_PACING_TABLE is set, as in Scripts/pacing-table, the table is written instead of compared.
    @Test("is what the rules make today; Scripts/pacing-table writes it")
    func isCurrent() throws {
        var page = try String(contentsOf: Self.page, encoding: .utf8)
        let begin = try #require(page.range(of: "<!-- table -->\n"))
        let end = try #require(page.range(of: "<!-- end of table -->\n"))
        let (place, table) = (begin.upperBound..<end.lowerBound, PacingTable.markdown())
        guard ProcessInfo.processInfo.environment["HELIOGRAPH_PACING_TABLE"] == nil else {
            page.replaceSubrange(place, with: table)
            return try page.write(to: Self.page, atomically: true, encoding: .utf8)
        }
        #expect(page[place] == table)
    }
}
