import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Runs the tests of Clients/js against a relay.
    @Suite("The JavaScript client")
    struct JavaScriptClientTests {
        @Test("passes its tests")
        func client() async throws {
            let relay = try await RelayProcess(
                arguments: ["--source", "test-pattern", "--fallback", "none", "--state-file", "none"]
            )
            defer { _ = relay.terminate() }
            let folder = Programs.repository.appendingPathComponent("Clients/js/tests")
            // By name, because versions of node treat a folder differently.
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            let outcome = try Programs.run(
                Node.program,
                ["--test"] + files.map { folder.appendingPathComponent($0).path },
                environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"]
            )
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        }
    }
}
