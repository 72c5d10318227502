import Foundation
import PacingSimulation
import Testing

@Suite("The table of docs/pacing.md")
struct PacingTableTests {
    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("docs/pacing.md")

    @Test("is what the rules make today; Scripts/pacing-table writes it")
    func isCurrent() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let begin = try #require(page.range(of: "<!-- table -->\n"))
        let end = try #require(page.range(of: "<!-- end of table -->\n"))
        let table = String(page[begin.upperBound..<end.lowerBound])
        #expect(table == PacingTable.markdown())
    }
}
