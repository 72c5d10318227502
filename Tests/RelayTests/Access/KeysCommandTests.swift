import Foundation
import HeliographAPI
import Program
import TestSupport
import Testing
import Wire

@Suite("heliograph keys")
struct KeysCommandTests {
    private static func heliograph(
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> Programs.Outcome {
        try await inThread { try Programs.run(Programs.product("heliograph"), arguments, environment: environment) }
    }

    @Test("makes, lists and revokes keys of a running relay, which the command then shows")
    func wholeCourse() async throws {
        let scratch = try Scratch()
        let file = scratch.file("keys.json").path
        let relay = try await RelayProcess(arguments: ["--keys-file", file])
        defer { relay.terminate() }
        let url = "http://127.0.0.1:\(relay.httpPort)"
        func devices(_ environment: [String: String] = [:], _ more: String...) async throws -> Programs.Outcome {
            try await Self.heliograph(
                ["devices"] + more,
                environment: environment.merging(["HELIOGRAPH_RELAY": url]) { $1 }
            )
        }
        #expect(try await devices().status == 0, "access is off")
        let made = try await Self.heliograph(["keys", "make", "wall", "--keys-file", file])
        #expect(made.status == 0, "\(made.errors)")
        let key = made.output.trimmingCharacters(in: .newlines)
        #expect(key.hasPrefix("hgk_") && key.count == 68)
        let refused = try await devices()
        #expect(refused.status == 1)
        #expect(refused.errors.contains("missing_key"))
        #expect(try await devices(["HELIOGRAPH_KEY": key]).status == 0)
        let output = scratch.file("ci.key").path
        let second = try await Self.heliograph([
            "keys", "make", "ci", "--role", "operator", "--keys-file", file, "--output", output,
        ])
        #expect(second.status == 0 && second.output.isEmpty)
        #expect(try await devices(["HELIOGRAPH_KEY_FILE": output]).status == 0)
        #expect(try await devices([:], "--key-file", output).status == 0)
        let again = try await Self.heliograph(["keys", "make", "ci2", "--keys-file", file, "--output", output])
        #expect(again.status == 1, "no file is written over")
        let listed = try await Self.heliograph(["keys", "list", "--keys-file", file])
        let lines = listed.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        #expect(lines.map { $0.prefix(2).joined(separator: " ") } == ["wall viewer", "ci operator"])
        #expect(!listed.output.contains("hgk_"))
        #expect(try await Self.heliograph(["keys", "revoke", "ci", "--keys-file", file]).status == 0)
        #expect(try await devices(["HELIOGRAPH_KEY_FILE": output]).errors.contains("wrong_key"))
        #expect(try await devices(["HELIOGRAPH_KEY": key]).status == 0)
        let unknown = try await Self.heliograph(["keys", "revoke", "ci", "--keys-file", file])
        #expect(unknown.status == 1 && unknown.errors.contains("there is no key ci"))
        #expect(try await Self.heliograph(["keys", "make", "a b", "--keys-file", file]).status == 1)
        #expect(try await Self.heliograph(["keys", "make", "x", "--role", "king", "--keys-file", file]).status == 64)
    }

    @Test(
        "heliograph doctor tells a key that is missing from a relay that is, and heliograph drain wants an operator's"
    )
    func doctorAndDrain() async throws {
        let scratch = try Scratch()
        let file = scratch.file("keys.json").path
        func make(_ role: String) async throws -> String {
            try await Self.heliograph(["keys", "make", role, "--role", role, "--keys-file", file])
                .output.trimmingCharacters(in: .newlines)
        }
        let (viewer, op) = (try await make("viewer"), try await make("operator"))
        let relay = try await RelayProcess(arguments: ["--keys-file", file])
        defer { relay.terminate() }
        let address = ["--relay", "http://127.0.0.1:\(relay.httpPort)"]
        func run(_ command: String, _ arguments: [String] = [], key: String = "") async throws -> Programs.Outcome {
            let environment = key.isEmpty ? [:] : ["HELIOGRAPH_KEY": key]
            return try await Self.heliograph([command] + address + arguments, environment: environment)
        }
        // No agent, because this test is not about the desktop.
        func findings(key: String = "") async throws -> [Finding] {
            struct Report: Decodable { var findings: [Finding] }
            let outcome = try await run("doctor", ["--json", "--agent", "/nonexistent"], key: key)
            return try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8)).findings
        }
        for (key, complaint) in [("", "missing_key"), ("hgk_wrong", "wrong_key"), ("no key", "HELIOGRAPH_KEY")] {
            let findings = try await findings(key: key)
            let found = findings.filter { $0.check == "key" }
            #expect(
                found.map(\.verdict) == [.failure] && found.first?.statement.contains(complaint) == true,
                "\(findings)"
            )
        }
        #expect(try await findings(key: viewer).map(\.check) == ["relay", "broadcast", "agent"])

        let refused = try await run("drain", key: viewer)
        #expect(refused.status == 1 && refused.errors.contains("forbidden_role"))
        let drained = try await run("drain", key: op)
        #expect(drained.status == 0, "\(drained.errors)")
        _ = try await eventually("the relay's end") { try await run("status", key: op).status == 69 ? () : nil }
        #expect(relay.terminate() == 0)
    }

    @Test("makes and lists keys of some devices, with rights in the library")
    func limits() async throws {
        let scratch = try Scratch()
        let file = scratch.file("keys.json").path
        func make(_ arguments: String...) async throws -> Programs.Outcome {
            try await Self.heliograph(["keys", "make"] + arguments + ["--keys-file", file])
        }
        #expect(try await make("wall").status == 0)
        #expect(try await make("ci", "--role", "operator", "--library", "none").status == 0)
        let cut = try await make("cut", "--device", "right", "--device", "left", "--library", "delete,look")
        #expect(cut.status == 0, "\(cut.errors)")
        let listed = try await Self.heliograph(["keys", "list", "--keys-file", file]).output
        let lines = listed.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        #expect(
            lines.map { $0.dropFirst(3).joined(separator: " ") } == [
                "* look - -", "* none - -", "left,right look,delete - -",
            ],
            "\(listed)"
        )
        let unknown = try await make("x", "--library", "watch")
        #expect(unknown.status == 64 && unknown.errors.contains("Unknown library right 'watch'"), "\(unknown.errors)")
        let bad = try await make("x", "--device", "a b")
        #expect(bad.status == 1 && bad.errors.contains("a b is not a device's name"), "\(bad.errors)")
    }

    @Test("a key's file that others may read is refused")
    func openFile() async throws {
        let scratch = try Scratch()
        let path = try scratch.write(Array("hgk_0\n".utf8), to: "ci.key").path
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let outcome = try await Self.heliograph(["status", "--key-file", path])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("chmod 600"))
    }
}
