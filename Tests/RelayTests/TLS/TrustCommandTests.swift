import Foundation
import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("heliograph trust")
struct TrustCommandTests {
    /// A relay with a certificate of its own, and a user who does not know it yet.
    private struct Scene {
        let url: String
        let home: String
        /// What the relay's log and status show.
        let fingerprint: String

        private var environment: [String: String] { ["XDG_STATE_HOME": home, "HELIOGRAPH_RELAY": url] }

        func heliograph(_ arguments: [String]) async throws -> Programs.Outcome {
            try await inThread {
                try Programs.run(Programs.product("heliograph"), arguments, environment: environment)
            }
        }

        /// Runs the command at a terminal, where a person types `answer`.
        func heliograph(_ arguments: String, answering answer: String) async throws -> Programs.Outcome {
            let program = Programs.product("heliograph").path
            let line = "echo '\(answer)' | script --quiet --return --command '\(program) \(arguments)' /dev/null"
            return try await inThread {
                try Programs.run(
                    URL(fileURLWithPath: "/bin/sh"),
                    ["-c", line],
                    environment: environment
                )
            }
        }
    }

    private static func run(_ body: @escaping @Sendable (Scene) async throws -> Void) async throws {
        let scratch = try Scratch()
        let (state, home) = (scratch.file("state").path, scratch.file("home").path)
        try await RunningRelay.run {
            $0.tls = .selfSigned
            $0.stateDirectory = state
        } _: { relay in
            let status = try await relay.broadcast()
            guard case .string(let fingerprint)? = status["tls"]?["fingerprint"] else {
                throw NeverCame(description: "no fingerprint: \(status)")
            }
            try await body(Scene(url: relay.url(""), home: home, fingerprint: fingerprint))
        }
    }

    @Test("pins a certificate, which all commands accept from then on, and no other one")
    func pins() async throws {
        try await Self.run { scene in
            let stranger = try await scene.heliograph(["devices"])
            #expect(stranger.status == 1 && stranger.errors.contains("heliograph trust"), "\(stranger.errors)")
            let unasked = try await scene.heliograph(["trust", "add", scene.url])
            #expect(unasked.status == 1 && unasked.errors.contains("nobody can be asked"), "\(unasked.errors)")
            let other = String(repeating: "ab", count: 32)
            let wrong = try await scene.heliograph(["trust", "add", scene.url, "--fingerprint", other])
            #expect(wrong.status == 1 && wrong.errors.contains(scene.fingerprint), "\(wrong.errors)")
            #expect(try await scene.heliograph(["trust", "list"]).output == "")

            let right = try await scene.heliograph(["trust", "add", scene.url, "--fingerprint", scene.fingerprint])
            #expect(right.status == 0, "\(right.errors)")
            #expect(try await scene.heliograph(["devices"]).status == 0)
            let listed = try await scene.heliograph(["trust", "list"]).output.split(separator: "\t")
            #expect(listed.prefix(2).joined(separator: " ") == "\(scene.url) \(scene.fingerprint)")

            // Another relay at that address.
            let file = URL(fileURLWithPath: scene.home + "/heliograph/relays.json")
            let changed = try String(contentsOf: file, encoding: .utf8)
                .replacingOccurrences(of: scene.fingerprint, with: other)
            try Data(changed.utf8).write(to: file)
            let mismatch = try await scene.heliograph(["devices"])
            #expect(mismatch.status == 1 && mismatch.errors.contains(scene.fingerprint), "\(mismatch.errors)")
            for words in [["--first"], ["--fingerprint", scene.fingerprint]] {
                let refused = try await scene.heliograph(["trust", "add", scene.url] + words)
                #expect(refused.status == 1 && refused.errors.contains("remove it first"), "\(refused.errors)")
            }
            #expect(try await scene.heliograph(["trust", "remove", scene.url]).status == 0)
            #expect(try await scene.heliograph(["trust", "remove", scene.url]).status == 1)
            #expect(try await scene.heliograph(["trust", "add", scene.url, "--first"]).status == 0)
            #expect(try await scene.heliograph(["devices"]).status == 0)
        }
    }

    @Test("is asked by any command at a terminal, once")
    func asked() async throws {
        try await Self.run { scene in
            for answer in ["no", "", "y"] {
                let refused = try await scene.heliograph("devices", answering: answer)
                #expect(refused.status == 1 && refused.output.contains("is not trusted"), "\(refused)")
                #expect(refused.output.contains(scene.fingerprint))
            }
            let accepted = try await scene.heliograph("devices", answering: "yes")
            #expect(accepted.status == 0 && accepted.output.contains(scene.fingerprint), "\(accepted)")
            let known = try await scene.heliograph("devices", answering: "no")
            #expect(known.status == 0 && !known.output.contains(scene.fingerprint), "\(known)")
            #expect(try await scene.heliograph(["devices"]).status == 0)
        }
    }

    @Test("is for relays with TLS")
    func plain() async throws {
        try await RunningRelay.run { relay in
            let scratch = try Scratch()
            let scene = Scene(url: relay.url(""), home: scratch.file("home").path, fingerprint: "")
            let plain = try await scene.heliograph(["trust", "add", scene.url, "--first"])
            #expect(plain.status == 1 && plain.errors.contains("https://"), "\(plain.errors)")
            let secure = scene.url.replacingOccurrences(of: "http:", with: "https:")
            let none = try await scene.heliograph(["trust", "add", secure, "--first"])
            #expect(none.status == 1 && none.errors.contains("has no TLS"), "\(none.errors)")
            let absent = try await scene.heliograph(["trust", "add", "https://127.0.0.1:1", "--first"])
            #expect(absent.status == 69 && absent.errors.contains("cannot reach"), "\(absent.errors)")
        }
    }
}
