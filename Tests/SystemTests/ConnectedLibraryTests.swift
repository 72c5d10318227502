import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// A library of another machine's relay, as `heliograph library connect` uses it.
    @Suite("A connected library")
    struct ConnectedLibraryTests {
        private let scratch: Scratch
        /// The key of a person who looks at recordings.
        private let key: String

        init() throws {
            scratch = try Scratch()
            key = scratch.file("look.key").path
            for (name, role) in [("look", "viewer"), ("farm", "operator")] {
                let made = try Programs.run(
                    Programs.product("heliograph"),
                    ["keys", "make", name, "--role", role, "--keys-file", keys]
                        + ["--output", scratch.file("\(name).key").path]
                )
                #expect(made.status == 0, "\(made.errors)")
            }
        }

        private var keys: String { scratch.file("keys.json").path }

        /// Starts a relay that shows the test pattern.
        private func relay(_ more: [String] = []) async throws -> RelayProcess {
            let relay = try await RelayProcess(
                arguments: [
                    "--source", "test-pattern", "--fallback", "none", "--library", scratch.file("library").path,
                    "--state-file", scratch.file("state.json").path, "--keys-file", keys,
                ] + more
            )
            return relay
        }

        /// Runs the command as a person on another machine. The relay is known only from `library connect`.
        ///
        /// - Parameter path: Where programs are looked for first.
        private func heliograph(_ arguments: [String], path: String? = nil) async throws -> Programs.Outcome {
            try await Self.heliograph(arguments, home: home, path: path)
        }

        private static func heliograph(
            _ arguments: [String],
            home: String,
            path: String? = nil
        ) async throws -> Programs.Outcome {
            let environment = ["XDG_STATE_HOME": home, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"]
                .merging(path.map { ["PATH": $0 + ":/usr/bin:/bin"] } ?? [:]) { $1 }
            return try await inThread {
                try Programs.run(Programs.product("heliograph"), arguments, environment: environment)
            }
        }

        private var home: String { scratch.file("home").path }

        /// Runs the command, which must succeed, and returns what it prints.
        @discardableResult
        private func library(_ arguments: String..., path: String? = nil) async throws -> String {
            let outcome = try await heliograph(["library"] + arguments, path: path)
            #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            return outcome.output
        }

        /// Records some seconds, and returns the item's id.
        private func record(_ name: String, on relay: RelayProcess, bytes: Int = 1) async throws -> String {
            let farm = ["--relay", "http://127.0.0.1:\(relay.httpPort)", "--key-file", scratch.file("farm.key").path]
            func run(_ arguments: [String]) async throws -> String {
                let outcome = try await heliograph(arguments + farm)
                #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
                return outcome.output
            }
            if try await !run(["status"]).contains(": live") { _ = try await run(["start"]) }
            _ = try await run(["session", "start", name, "--record", "--fps", "30"])
            let id = try await eventually("a recording of \(name)") { () -> String? in
                let page = try await run(["library", "search", name, "--json"])
                let object = try JSONSerialization.jsonObject(with: Data(page.utf8)) as? RelayProcess.Object
                guard let item = (object?["items"] as? [RelayProcess.Object])?.first, item.integer("bytes") >= bytes
                else { return nil }
                return "\(item.integer("id"))"
            }
            _ = try await run(["session", "stop", name])
            return id
        }

        /// Returns the bytes of the last recording.
        private func lastFile() throws -> Data {
            let all = FileManager.default.enumerator(at: scratch.file("library"), includingPropertiesForKeys: nil)
            let files = try (all?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "mp4" }.map { file in
                (
                    file,
                    try file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
                        ?? .distantPast
                )
            }
            return try Data(contentsOf: try #require(files.max { $0.1 < $1.1 }).0)
        }

        @Test("is listed, searched, shown and saved from its copy, which follows the relay")
        func browse() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            let url = "http://127.0.0.1:\(relay.httpPort)"
            let first = try await record("login", on: relay)

            let stranger = try await heliograph(["library", "connect", url])
            #expect(stranger.status == 1 && stranger.errors.contains("missing_key"), "\(stranger.errors)")
            let wrong = scratch.file("wrong.key")
            try Data("hgk_0000".utf8).write(to: wrong)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: wrong.path)
            let refused = try await heliograph(["library", "connect", url, "--key-file", wrong.path])
            #expect(refused.status == 1 && refused.errors.contains("wrong_key"), "\(refused.errors)")
            let missing = try await heliograph(["library", "refresh"])
            #expect(missing.status == 1 && missing.errors.contains("library connect"), "\(missing.errors)")

            #expect(try await library("connect", url, "--key-file", key).contains("with the key look: 1 recording,"))
            let stored = scratch.file("home/heliograph/connected/relay.json")
            let mode = try FileManager.default.attributesOfItem(atPath: stored.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try await library("list").hasPrefix(first))
            #expect(try await library("refresh").hasPrefix("nothing has changed"))
            #expect(try await library("show", first).contains("device default, login, file 0"))

            let second = try await record("checkout", on: relay)
            let listed = try await library("list").split(separator: "\n")
            #expect(listed.map { $0.prefix { $0 != " " } } == [second[...], first[...]])
            #expect(try await library("search", "check").split(separator: "\n").count == 1)
            let output = scratch.file("saved.mp4")
            try await library("save", second, "--output", output.path)
            #expect(try Data(contentsOf: output) == lastFile())
            let deleted = try await heliograph(["library", "delete", second])
            #expect(deleted.status == 1 && deleted.errors.contains("forbidden_library"), "\(deleted.errors)")

            relay.terminate()
            let offline = try await heliograph(["library", "list"])
            #expect(offline.status == 0 && offline.output.split(separator: "\n").count == 2)
            #expect(offline.errors.contains("cannot reach the relay") && offline.errors.contains("library as of 20"))
            try await library("disconnect")
            #expect(!FileManager.default.fileExists(atPath: stored.path))
            #expect(try await heliograph(["library", "disconnect"]).status == 1)
        }

        @Test("is played by a player that is told no secret on its command line, and by mpv and ffplay to the end")
        func play() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            let item = try await record("film", on: relay, bytes: 100_000)
            try await library("connect", "http://127.0.0.1:\(relay.httpPort)", "--key-file", key)

            let folder = scratch.folder.path
            _ = try scratch.program(
                """
                #!/bin/sh
                printf '%s\\n' "$@" >\(folder)/arguments
                while read -r address; do case $address in "#"*) ;; *) break ;; esac; done
                curl --silent --fail --output \(folder)/whole.mp4 "$address" || exit 3
                curl --silent --fail --range 1000-1999 --output \(folder)/range "$address" || exit 4
                curl --silent --fail --range 999999999- "$address" && exit 5
                curl --silent --fail "${address%/*}x/0" && exit 6
                exit 0
                """,
                named: "mpv"
            )
            try await library("play", item, "--start", "1.5", "--", "--mute", path: folder)
            let arguments = try String(contentsOf: scratch.file("arguments"), encoding: .utf8)
            #expect(!arguments.contains("http") && !arguments.contains("hgk_"), "\(arguments)")
            #expect(arguments.contains("--start=1.5\n") && arguments.hasSuffix("--mute\n"), "\(arguments)")
            let bytes = try lastFile()
            #expect(try Data(contentsOf: scratch.file("whole.mp4")) == bytes)
            #expect(try Data(contentsOf: scratch.file("range")) == bytes.subdata(in: 1000..<2000))

            let shown = try await library("play", item, "--player", "mpv", "--", "--vo=null", "--ao=null", "--untimed")
            #expect(shown.contains("End of file"), "\(shown)")
            try await library("play", item, "--player", "ffplay", "--", "-autoexit")
            let queue = try await library(
                "play",
                item,
                item,
                "--player",
                "mpv",
                "--",
                "--vo=null",
                "--ao=null",
                "--untimed"
            )
            #expect(queue.split(separator: "\n").count { $0.hasPrefix("Playing: ") } == 2, "\(queue)")
            let several = try await heliograph(["library", "play", item, item, "--player", "ffplay"])
            #expect(several.status == 1 && several.errors.contains("install mpv to play several"), "\(several.errors)")
            let none = try await heliograph(["library", "play", "--playlist", "evening"])
            #expect(none.status == 1 && none.errors.contains("playlist list"), "\(none.errors)")
        }

        @Test("is saved and played whole though the network stops, and the relay is killed and comes back")
        func losses() async throws {
            var relay = try await relay()
            defer { relay.terminate() }
            let item = try await record("long", on: relay, bytes: 400_000)
            let bytes = try lastFile()
            // More than half of the file, so that one stop is enough.
            let strait = try Strait(to: relay.httpPort, limit: bytes.count * 2 / 3)
            defer { strait.end() }
            try await library("connect", "http://127.0.0.1:\(strait.port)", "--key-file", key)

            let output = scratch.file("saved.mp4")
            func drafts() throws -> [URL] {
                try FileManager.default.contentsOfDirectory(
                    at: scratch.folder,
                    includingPropertiesForKeys: [.fileSizeKey]
                ).filter { $0.pathExtension == "part" }
            }
            let saving = Task { [home] in
                try await Self.heliograph(["library", "save", item, "--output", output.path], home: home)
            }
            _ = try await eventually("the first bytes") {
                try drafts().contains { try ($0.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) > 0 }
                    ? true : nil
            }
            let port = relay.httpPort
            relay.kill()
            relay = try await self.relay(["--http", "127.0.0.1:\(port)"])
            let saved = try await saving.value
            #expect(saved.status == 0, "\(saved.errors)")
            #expect(try Data(contentsOf: output) == bytes)
            #expect(try drafts().isEmpty)

            let played = try await heliograph(
                ["library", "play", item, "--player", "mpv", "--", "--vo=null", "--ao=null", "--untimed"]
            )
            #expect(played.status == 0 && played.output.contains("End of file"), "\(played.errors)")
        }
    }
}
