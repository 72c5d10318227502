import Foundation
import HeliographAPI
import RelayTestSupport
import TestSupport
import Testing

@Suite("The reference of the API")
struct APIReferenceTests {
    private static let page = Programs.repository.appendingPathComponent("docs/reference/api.md")
    private static let isWritten = ProcessInfo.processInfo.environment["HELIOGRAPH_WRITE_REFERENCE"] != nil

    @Test("lists every call and every error code; Scripts/settings-reference writes the tables")
    func tables() throws {
        var page = try String(contentsOf: Self.page, encoding: .utf8)
        for (name, make) in APIReference.tables {
            let begin = try #require(page.range(of: "<!-- \(name) -->\n"))
            let end = try #require(page.range(of: "<!-- end of \(name) -->\n"))
            let table = make(page[begin.upperBound..<end.lowerBound])
            if Self.isWritten { page.replaceSubrange(begin.upperBound..<end.lowerBound, with: table) }
            #expect(Self.isWritten || page[begin.upperBound..<end.lowerBound] == table)
        }
        if Self.isWritten { try page.write(to: Self.page, atomically: true, encoding: .utf8) }
    }

    @Test("has a section for each group of calls")
    func sections() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let headings = page.split(separator: "\n").filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3).lowercased() }
        for tag in Route.Tag.allCases { #expect(headings.contains(tag.rawValue), "\(tag)") }
    }
}
