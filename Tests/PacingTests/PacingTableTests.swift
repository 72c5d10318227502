import PacingSimulation
import TestSupport
import Testing

@Suite("The table of docs/design/reports/pacing.md")
struct PacingTableTests {
    @Test("is what the rules make today; Scripts/report-tables writes it")
    func isCurrent() throws { try #expect(ReportTable(page: "pacing").isCurrent(PacingTable.markdown())) }
}
