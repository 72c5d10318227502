import Foundation
import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("The reference of settings")
struct SettingReferenceTests {
    private static let page = Programs.repository.appendingPathComponent("docs/reference/configuration.md")
    private static let isWritten = ProcessInfo.processInfo.environment["HELIOGRAPH_WRITE_REFERENCE"] != nil

    @Test("in docs/reference/configuration.md is what the table says; Scripts/settings-reference writes it")
    func page() throws {
        var page = try String(contentsOf: Self.page, encoding: .utf8)
        for (name, table) in SettingReference.tables {
            let begin = try #require(page.range(of: "<!-- \(name) -->\n"))
            let end = try #require(page.range(of: "<!-- end of \(name) -->\n"))
            if Self.isWritten { page.replaceSubrange(begin.upperBound..<end.lowerBound, with: table) }
            #expect(Self.isWritten || page[begin.upperBound..<end.lowerBound] == table)
        }
        if Self.isWritten { try page.write(to: Self.page, atomically: true, encoding: .utf8) }
    }

    @Test("agrees with the defaults in the tables of limits")
    func limits() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let rows = page.split(separator: "\n").map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let settings = RelayConfiguration.settings.map { ($0.name, $0.standard ?? "") }
        let defaults = Dictionary(uniqueKeysWithValues: settings)
        let limits = rows.filter { $0.count == 4 && defaults.keys.contains($0[2]) && $0[1] != "as viewers" }
        #expect(limits.count == 13)
        for limit in limits { #expect(limit[1].hasPrefix(defaults[limit[2]] ?? ""), "\(limit)") }
    }

    @Test("in the help has each flag, its value's name and its default")
    func help() throws {
        let outcome = try Programs.run(Programs.product("heliograph-relay"), ["--experimental-dump-help"])
        let dump = try JSONValue(parsing: Data(outcome.output.utf8))
        let arguments = dump["command"]?["arguments"]?.elements ?? []
        /// The help's text for each flag, by the flag's name.
        func texts(_ field: String) -> [String: String] {
            let pairs = arguments.map { ($0["preferredName"]?["name"]?.string ?? "", $0[field]?.string ?? "") }
            return Dictionary(pairs) { first, _ in first }
        }
        let flags = RelayConfiguration.settings.flatMap(\.flags)
        let others = ["config", "check-config", "version", "help"]
        #expect(Set(texts("kind").keys) == Set(flags.map(\.longName) + others))
        for flag in flags {
            let isAlone = if case .nothing = flag.argument { true } else { false }
            #expect(texts("kind")[flag.longName] == (isAlone ? "flag" : "option"))
            #expect(texts("abstract")[flag.longName] == flag.help)
            #expect(isAlone || texts("valueName")[flag.longName] == flag.valueName)
        }
        #expect(texts("abstract")["watchdog"]?.hasSuffix(" Default: 6.") == true)
    }
}
