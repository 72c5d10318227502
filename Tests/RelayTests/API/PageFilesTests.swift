import Foundation
import NIOHTTP1
import RelayTestSupport
import TestSupport
import Testing

@Suite("The web page's files")
struct PageFilesTests {
    private static let page = Programs.repository.appendingPathComponent("Sources/Relay/Page")
    private static let client = Programs.repository.appendingPathComponent("Clients/js")

    /// Returns the relative addresses that a file refers to: attributes of HTML, imports of scripts, and modules that
    /// run in a worklet.
    private static func references(in text: String) -> [String] {
        let pattern = /(?:src|href)="(?<attribute>[^"#]+)"|(?:from |new URL\(|import\()"\.\/(?<module>[^"]+)"/
        return text.matches(of: pattern).map { match in
            match.output.attribute.map(String.init) ?? "page/" + (match.output.module ?? "")
        }
    }

    @Test("are all served, and nothing refers to what is not")
    func served() async throws {
        try await RunningRelay.run { relay in
            var (waiting, seen): ([String], Set<String>) = ([""], [])
            while let path = waiting.popLast() {
                guard seen.insert(path).inserted else { continue }
                let answer = try await relay.get("/\(path)")
                #expect(answer.status == 200, "/\(path)")
                #expect(answer.headers["content-type"].first?.isEmpty == false)
                // An absolute address would break behind a proxy's path prefix.
                #expect(answer.text.matches(of: /["'`]\/(screencapture|v1|auth)/).isEmpty, "/\(path)")
                waiting += Self.references(in: answer.text)
            }
            let files = try FileManager.default.contentsOfDirectory(atPath: Self.page.path)
            #expect(seen == Set(files.map { $0 == "index.html" ? "" : "page/\($0)" }))
        }
    }

    @Test("include the JavaScript client, by a link to each of its files")
    func client() async throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.client.path).filter { $0.hasSuffix(".js") }
        #expect(names.contains("heliograph.js"))
        try await RunningRelay.run { relay in
            for name in names {
                let link = Self.page.appendingPathComponent(name).path
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
                #expect(target == "../../../Clients/js/\(name)", "ln -s ../../../Clients/js/\(name) \(link)")
                let text = try String(contentsOf: Self.client.appendingPathComponent(name), encoding: .utf8)
                #expect(try await relay.get("/page/\(name)").text == text, "\(name)")
            }
        }
    }

    @Test("need nothing of the page in the JavaScript client, which others copy as it is")
    func clientAlone() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.client.path).filter { $0.hasSuffix(".js") }
        for name in names {
            let text = try String(contentsOf: Self.client.appendingPathComponent(name), encoding: .utf8)
            let imported = Self.references(in: text).map { String($0.dropFirst("page/".count)) }
            #expect(Set(imported).subtracting(names) == [], "\(name)")
        }
    }

    @Test("allow nothing from elsewhere, nothing inline, and no frame around them")
    func policy() async throws {
        try await RunningRelay.run { relay in
            let answer = try await relay.get("/")
            let policy = try #require(answer.headers["content-security-policy"].first)
            let directives = policy.split(separator: "; ").map(String.init)
            #expect(directives.contains("default-src 'none'"))
            #expect(directives.contains("script-src 'self'"))
            #expect(directives.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe") && !policy.contains("*"))
            #expect(answer.headers["x-content-type-options"] == ["nosniff"])
            #expect(
                !answer.text.contains("style=") && !answer.text.contains("<style")
                    && !answer.text.contains("javascript:")
            )
            #expect(answer.text.matches(of: /<script(?! type="module" src=)/).isEmpty)
        }
    }

    @Test("name no other host")
    func selfContained() throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: Self.page.path) {
            let text = try String(contentsOf: Self.page.appendingPathComponent(file), encoding: .utf8)
            let hosts = text.matches(of: /(?:https?:|wss?:)?\/\/[a-z0-9][^\s"'`]*\.[a-z]+/).map { String($0.output) }
            #expect(hosts.filter { $0 != "http://www.w3.org" } == [], "\(file)")
        }
    }
}
