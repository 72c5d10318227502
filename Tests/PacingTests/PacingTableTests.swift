import Foundation
import PacingSimulation
import Testing

@Suite("The table of docs/pacing.md")
struct PacingTableTests {
    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/pacing.md")

    /// With HELIOGRAPH_PACING_TABLE set, as Scripts/pacing-table has it, the table is written instead.
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
