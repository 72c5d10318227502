import Foundation

/// The table of a page of docs/design/reports, which a test makes anew.
package struct ReportTable {
    private let page: URL

    /// - Parameter page: The page's name, without `.md`.
    package init(page: String) {
        self.page = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("docs/design/reports/\(page).md")
    }

    /// Returns whether the page has this table. Puts it there if HELIOGRAPH_REPORT_TABLES is set, as in
    /// Scripts/report-tables.
    ///
    /// - Throws: If the page cannot be read or written, or has no place for a table.
    package func isCurrent(_ table: String) throws -> Bool {
        var text = try String(contentsOf: page, encoding: .utf8)
        guard let begin = text.range(of: "<!-- table -->\n"), let end = text.range(of: "<!-- end of table -->\n") else {
            throw NeverCame(description: "\(page.lastPathComponent) has no place for a table")
        }
        let place = begin.upperBound..<end.lowerBound
        if ProcessInfo.processInfo.environment["HELIOGRAPH_REPORT_TABLES"] == nil { return text[place] == table }
        text.replaceSubrange(place, with: table)
        try text.write(to: page, atomically: true, encoding: .utf8)
        return true
    }
}
