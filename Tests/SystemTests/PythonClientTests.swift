import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Runs the tests of Clients/python against a relay with a library and one without.
    @Suite("The Python client")
    struct PythonClientTests {
        @Test("has the reference that its docstrings say; Scripts/python-reference writes it")
        func reference() throws {
            let outcome = try Programs.run(Programs.script("python-reference"), ["--check"])
            #expect(outcome.status == 0, "\(outcome.errors)")
        }

        @Test("passes its tests")
        func client() async throws {
            let scratch = try Scratch()
            let source = ["--source", "test-pattern", "--fallback", "none"]
            let relay = try await RelayProcess(arguments: source + ["--library", scratch.file("library").path])
            defer { _ = relay.terminate() }
            let other = try await RelayProcess(arguments: source)
            defer { _ = other.terminate() }
            let folder = Programs.repository.appendingPathComponent("Clients/python")
            let outcome = try Programs.run(
                URL(fileURLWithPath: "/usr/bin/python3"),
                [
                    "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "--basetemp", scratch.file("pytest").path,
                    folder.appendingPathComponent("tests").path,
                ],
                environment: [
                    "HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)",
                    "HELIOGRAPH_RELAY_WITHOUT_LIBRARY": "http://127.0.0.1:\(other.httpPort)", "PYTHONPATH": folder.path,
                    "PYTHONDONTWRITEBYTECODE": "1",
                ],
                directory: scratch.folder
            )
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        }
    }
}
