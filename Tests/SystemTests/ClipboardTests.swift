import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Tests of the clipboard on real desktops, against other programs: wl-clipboard and xclip.
    @Suite("Clipboard")
    struct ClipboardTests {
        private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

        /// A desktop, a relay that broadcasts it, and a folder for their user and the test. Calls come from that user,
        /// whom the relay lets act without a key.
        private struct Place {
            let screen: Screen
            let desktop: Desktop
            let relay: RelayProcess
            let folder: URL

            struct Answer: CustomStringConvertible {
                var status: Int
                var body: Data

                var code: String? {
                    ((try? JSONSerialization.jsonObject(with: body)) as? RelayProcess.Object)?["code"] as? String
                }

                var description: String { "\(status) \(String(decoding: body.prefix(500), as: UTF8.self))" }
            }

            private func call(_ arguments: [String]) throws -> Answer {
                let (file, url) = (
                    folder.appendingPathComponent("answer"),
                    "http://127.0.0.1:\(relay.httpPort)/v1/devices/default/clipboard"
                )
                try? FileManager.default.removeItem(at: file)
                let outcome = try run(
                    "curl",
                    ["--silent", "--max-time", "60", "--output", file.path, "--write-out", "%{http_code}"]
                        + arguments.map { $0.replacingOccurrences(of: "URL", with: url) }
                )
                guard let status = Int(outcome.output) else {
                    throw NeverCame(description: "\(arguments): \(outcome)")
                }
                return Answer(status: status, body: (try? Data(contentsOf: file)) ?? Data())
            }

            func get(_ type: String) throws -> Answer { try call(["URL?type=\(type)"]) }

            func set(_ bytes: Data, _ type: String) throws -> Answer {
                let file = try write(bytes, "set")
                return try call(["--header", "Content-Type: \(type)", "--upload-file", file.path, "URL"])
            }

            func write(_ bytes: Data, _ name: String) throws -> URL {
                let file = folder.appendingPathComponent(name)
                try bytes.write(to: file)
                return file
            }

            /// Runs a program in the desktop, as its user.
            @discardableResult
            func run(_ program: String, _ arguments: [String]) throws -> Programs.Outcome {
                try Programs.run(
                    Programs.desktop,
                    ["exec", desktop.directory.path, program] + arguments,
                    directory: desktop.directory
                )
            }

            /// Returns what another program pastes.
            func paste(_ type: String) throws -> Data? {
                let file = folder.appendingPathComponent("pasted")
                try? FileManager.default.removeItem(at: file)
                let outcome = try run("timeout", ["20", "sh", "-c", screen.paste, "sh", file.path, type])
                return outcome.status == 0 ? try Data(contentsOf: file) : nil
            }

            /// Starts a shell command in the background, and returns its process.
            ///
            /// - Parameter arguments: Its `$1` and so on.
            func start(_ command: String, _ arguments: [String]) throws -> Int32 {
                // Foundation waits until no process has the descriptors that it gave the first one.
                let start = #"""
                    for descriptor in /proc/self/fd/*; do
                        descriptor=${descriptor##*/}
                        ((descriptor < 3)) || eval "exec $descriptor>&-"
                    done
                    bash -c "$0" bash "$@" </dev/null >/dev/null 2>&1 &
                    echo $!
                    """#
                let outcome = try run("bash", ["-c", start, command] + arguments)
                return try #require(Int32(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)))
            }

            /// Has another program put something into the clipboard, and stay.
            ///
            /// - Returns: Its process.
            func copyUnread(_ bytes: Data, _ type: String) throws -> Int32 {
                try start(screen.copy, [write(bytes, "copied-\(UUID())").path, type])
            }

            /// Does so, and waits until the relay reads it.
            func copy(_ bytes: Data, _ type: String, kind: String) async throws -> Int32 {
                let process = try copyUnread(bytes, type)
                _ = try await eventually("what \(screen.copy) has copied") {
                    let answer = try get(kind)
                    return answer.status == 200 && answer.body == bytes ? true : nil
                }
                return process
            }

            func send(_ signal: Int32, to process: Int32) { kill(process, signal) }
        }

        private func withClipboard(_ screen: Screen, _ body: (Place) async throws -> Void) async throws {
            let desktop = try Desktop(screen.compositor, size: "1280x720")
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, arguments: ["--source", screen.source])
            defer { relay.terminate() }
            let folder = desktop.directory.appendingPathComponent("clipboard")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
            let place = Place(screen: screen, desktop: desktop, relay: relay, folder: folder)
            try await start(place)
            try await body(place)
        }

        /// Starts the broadcast, and waits until the agent says that it has a clipboard.
        private func start(_ place: Place) async throws {
            try await place.relay.post("/v1/devices/default/broadcast/start", ["timeout": 60])
            _ = try await eventually("the clipboard") {
                let input = try await place.relay.get("/v1/devices/default/broadcast").object("input")
                return input["clipboard"] as? [String] == ["text", "png"] ? true : nil
            }
            // Mutter's seat has a keyboard once a key was pressed. Without one, no program can use the clipboard.
            guard place.screen == .mutter else { return }
            let pressed = try place.desktop.callActions("POST", ["press": "shift"], of: place.relay)
            #expect(pressed.status == 200, "\(pressed)")
        }

        private static func image(_ count: Int, seed: UInt64 = 1) -> Data {
            var random = SeededGenerator(seed: seed)
            let words = (0..<(count - signature.count + 7) / 8).map { _ in random.next() }
            let noise = words.withUnsafeBytes { Data($0) }
            return Data(signature) + noise.prefix(count - signature.count)
        }

        @Test("what is set, other programs paste, and the relay reads", arguments: Screen.allCases)
        func set(screen: Screen) async throws {
            try await withClipboard(screen) { place in
                let scripts =
                    "Latin Grüße Łódź, ελληνικά, кириллица, עברית, العربية, हिन्दी, ไทย, 日本語, 한국어, 👋🏽 e\u{301}\r\n\t"
                let long = String(repeating: "Zeile 日本 ", count: (1 << 20) / 13)
                let texts = [scripts, "", long, String(repeating: "a", count: 1 << 20), "last"]
                for text in texts.map({ Data($0.utf8) }) {
                    let answer = try place.set(text, "text/plain; charset=utf-8")
                    #expect(answer.status == 200, "\(answer)")
                    #expect(try place.get("text").body == text)
                    #expect(try place.get("png").code == "empty_clipboard")
                    #expect(try place.paste(screen.textType) == text, "\(text.count) bytes")
                    if !text.isEmpty { #expect(try place.paste("text/plain") == text, "\(text.count) bytes") }
                }
                for image in [Self.image(1000), Self.image(3 << 20), Self.image((16 << 20) - 8)] {
                    let answer = try place.set(image, "image/png")
                    #expect(answer.status == 200, "\(answer)")
                    #expect(try place.get("png").body == image)
                    #expect(try place.get("text").code == "empty_clipboard")
                    #expect(try place.paste("image/png") == image, "\(image.count) bytes")
                    // Twice, because other programs may paste as often as they like.
                    #expect(try place.paste("image/png") == image, "\(image.count) bytes")
                }
            }
        }

        @Test("what other programs copy, the relay reads, and sets over it", arguments: Screen.allCases)
        func get(screen: Screen) async throws {
            try await withClipboard(screen) { place in
                for type in ["text", "png"] {
                    let empty = try place.get(type)
                    #expect(empty.status == 404 && empty.code == "empty_clipboard", "\(empty)")
                }
                let contents: [(Data, String, String)] = [
                    (Data("Grüße, 日本語 👋".utf8), screen.textType, "text"),
                    (Self.image(5000), "image/png", "png"),
                    (Data(String(repeating: "é", count: 1 << 19).utf8), screen.textType, "text"),
                    (Self.image(5 << 20, seed: 2), "image/png", "png"),
                ]
                for (bytes, type, kind) in contents {
                    let process = try await place.copy(bytes, type, kind: kind)
                    let other = try place.get(kind == "text" ? "png" : "text")
                    #expect(other.code == "empty_clipboard", "\(other)")
                    let text = Data("over \(kind)".utf8)
                    #expect(try place.set(text, "text/plain").status == 200)
                    #expect(try place.get("text").body == text)
                    #expect(try place.paste(screen.textType) == text)
                    place.send(SIGKILL, to: process)
                }
                // What is not what its type says, and what is too large.
                for (bytes, type, kind) in [
                    (Data([0x61, 0xFF, 0x62]), screen.textType, "text"), (Data("GIF89a".utf8), "image/png", "png"),
                    (Data(repeating: 0x61, count: 1 << 20 | 1), screen.textType, "text"),
                ] {
                    let process = try place.copyUnread(bytes, type)
                    defer { place.send(SIGKILL, to: process) }
                    let answer = try await eventually("\(kind) that is refused") {
                        let answer = try place.get(kind)
                        return answer.code == "input_failed" ? answer : nil
                    }
                    #expect(answer.status == 502, "\(answer)")
                }
            }
        }

        @Test("a program that does not answer holds nobody up", arguments: Screen.allCases)
        func silence(screen: Screen) async throws {
            try await withClipboard(screen) { place in
                let process = try await place.copy(Data("slow".utf8), screen.textType, kind: "text")
                defer {
                    place.send(SIGCONT, to: process)
                    place.send(SIGKILL, to: process)
                }
                place.send(SIGSTOP, to: process)
                let began = ContinuousClock.now
                let answer = try place.get("text")
                #expect(answer.status == 504 && answer.code == "input_timeout", "\(answer)")
                #expect(ContinuousClock.now - began < .seconds(4))
                let text = Data("quick".utf8)
                #expect(try place.set(text, "text/plain").status == 200)
                #expect(try place.get("text").body == text)
                #expect(try place.paste(screen.textType) == text)
            }
        }

        @Test("a program that does not read holds nobody up", arguments: Screen.allCases)
        func fullPipe(screen: Screen) async throws {
            try await withClipboard(screen) { place in
                let image = Self.image(12 << 20)
                #expect(try place.set(image, "image/png").status == 200)
                // The pasting program's output is full, so it stops reading.
                let paste = "\(screen.paste.replacingOccurrences(of: #">"$1""#, with: "")) | sleep 8"
                for _ in 0..<3 { _ = try place.start(paste, ["", "image/png"]) }
                try await Task.sleep(for: .milliseconds(500))
                let began = ContinuousClock.now
                #expect(try place.get("png").body == image)
                #expect(try place.paste("image/png") == image)
                let text = Data("next".utf8)
                #expect(try place.set(text, "text/plain").status == 200)
                #expect(try place.paste(screen.textType) == text)
                #expect(ContinuousClock.now - began < .seconds(6))
            }
        }

        @Test("at the agent's end Mutter keeps the content, and other desktops do not", arguments: Screen.allCases)
        func end(screen: Screen) async throws {
            try await withClipboard(screen) { place in
                let text = Data("kept".utf8)
                #expect(try place.set(text, "text/plain").status == 200)
                try await place.relay.post("/v1/devices/default/broadcast/stop")
                let none = try place.get("text")
                #expect(none.code == "no_source", "\(none)")
                try await start(place)
                let answer = try place.get("text")
                if screen == .mutter {
                    #expect(answer.body == text, "\(answer)")
                } else {
                    #expect(answer.code == "empty_clipboard", "\(answer)")
                }
            }
        }
    }
}

extension SystemTests.Screen {
    /// A shell command that puts the file `$1` into the clipboard as the type `$2`, and stays.
    fileprivate var copy: String {
        self == .xvfb
            ? #"exec xclip -quiet -selection clipboard -t "$2" -i "$1""#
            : #"exec wl-copy --foreground --type "$2" <"$1""#
    }

    /// A shell command that writes what the clipboard has of the type `$2` to the file `$1`.
    fileprivate var paste: String {
        self == .xvfb
            ? #"xclip -selection clipboard -t "$2" -o >"$1""#
            : #"wl-paste --no-newline --type "$2" >"$1""#
    }

    fileprivate var textType: String { self == .xvfb ? "UTF8_STRING" : "text/plain;charset=utf-8" }
}
