import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Tests of the callers that act on real desktops: who may, and the commands and examples.
    @Suite("Callers that act")
    struct InputCallerTests {
        @Test("without keys, only processes of the relay's own user on this machine may act, and through no proxy")
        func rights() async throws {
            try await InputPlace.with(.xvfb) { place in
                try place.act(["type": "a"])
                let url = "http://127.0.0.1:\(place.relay.httpPort)/v1/devices/default/actions"
                for header in ["X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy"] {
                    let outcome = try place.run(
                        "curl",
                        ["--silent", "--header", header, "--data-binary", #"{"type": "a"}"#, url]
                    )
                    #expect(outcome.output.contains("forbidden_caller"), "\(header): \(outcome)")
                }
                // Tests that run as root have another user than the desktop.
                guard getuid() == 0 else { return }
                let refusal = await #expect(throws: RelayProcess.Refusal.self) {
                    try await place.relay.post("/v1/devices/default/actions", ["type": "a"])
                }
                #expect(refusal?.status == 403 && refusal?.code == "forbidden_caller", "\(String(describing: refusal))")
                #expect(refusal?.detail.contains("controller") == true, "\(String(describing: refusal))")
            }
        }

        @Test("the commands act, and say what is wrong")
        func commands() async throws {
            try await InputPlace.with(.sway) { place in
                try place.desktop.stageCommand()
                try await place.relay.put("/v1/devices/default/sessions/small", ["width": 640, "height": 360])
                let file = place.desktop.directory.appendingPathComponent("actions.json")
                try #"{"press": "f5"}"#.write(to: file, atomically: true, encoding: .utf8)
                for (line, name, fields) in [
                    ("click 150,50 --session small", "button", ["272", "up"]),
                    ("click 150,50 --button right --count 2", "button", ["273", "up"]),
                    ("drag 20,20 100,100 --duration 0", "button", ["272", "up"]),
                    ("scroll 150,50 --down 120", "wheel", []),
                    ("type --device default x", "key", ["x", "up"]),
                    ("press ctrl+a delete", "key", ["Delete", "up"]),
                    ("actions \(file.path)", "key", ["F5", "up"]),
                ] {
                    let mark = try place.mark()
                    let outcome = try place.run("heliograph", line.split(separator: " ").map(String.init))
                    #expect(outcome.status == 0 && outcome.output.contains("done at"), "\(line): \(outcome)")
                    try await place.events(after: mark, until: line) {
                        $0.contains { $0.name == name && $0.fields.starts(with: fields) }
                    }
                }
                let released = try place.run("heliograph", ["release"])
                #expect(released.status == 0 && released.output.contains("released"), "\(released)")
                let json = try place.run("heliograph", ["press", "enter", "--json"])
                #expect(json.status == 0 && json.output.contains(#""pts":"#), "\(json)")
                for (line, status, complaint) in [
                    ("click 5", 64, "5"), ("click 9,9 --count 0", 64, "1 to 10"), ("scroll 5,5", 64, "--down"),
                    ("click 700,10 --session small", 1, "out_of_range"), ("tap 5,5", 1, "no_input"),
                    ("press ctrl+entr", 1, "enter"), ("actions /nowhere.json", 1, "nowhere.json"),
                ] {
                    let outcome = try place.run("heliograph", line.split(separator: " ").map(String.init))
                    #expect(
                        outcome.status == status && outcome.errors.contains(complaint),
                        "\(line): \(outcome)"
                    )
                }
            }
        }

        /// Saves a picture of the button as button.png. Its top left corner is at 100,80: Tests/Desktop/input_log.h.
        ///
        /// - Returns: A picture of the whole screen.
        private static func savedButton(in folder: URL, _ place: InputPlace) throws -> URL {
            let screen = folder.appendingPathComponent("screen.png")
            let seen = try place.run("heliograph", ["snapshot", "look", "--fresh", "--output", screen.path])
            #expect(seen.status == 0, "\(seen.errors)")
            _ = try Tool.run(
                "/usr/bin/ffmpeg",
                [
                    "-v", "error", "-nostdin", "-y", "-i", screen.path, "-vf", "crop=80:30:100:80", "-pix_fmt", "rgba",
                    "-update", "1", folder.appendingPathComponent("button.png").path,
                ]
            )
            return screen
        }

        @Test("the example in Swift waits for what looks like a dialog, clicks it away, and saves the screen")
        func exampleInSwift() async throws {
            try await InputPlace.with(.sway) { place in
                try place.desktop.stageCommand()
                try place.desktop.stage(product: "act-in-swift")
                try await place.relay.put("/v1/devices/default/sessions/look", [:])
                // The desktop's user must be able to read the picture, and to write its own.
                let work = place.desktop.directory.appendingPathComponent("work")
                try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
                chmod(work.path, 0o777)
                let before = try Self.savedButton(in: work, place)
                let mark = try place.mark()
                let program = ["--chdir", work.path, "act-in-swift", "button.png", "100,80"]
                let outcome = try place.run("env", program)
                #expect(outcome.status == 0 && outcome.output.contains("the dialog was there"), "\(outcome)")
                let events = try await place.events(after: mark, until: "a click") { events in
                    events.contains { $0.name == "button" }
                }
                let click = try #require(events.first { $0.name == "button" && $0.fields[1] == "down" }?.place)
                #expect(abs(click.x - 105.5) <= 1 && abs(click.y - 85.5) <= 1, "\(click)")
                // The button is green now.
                let after = try Data(contentsOf: work.appendingPathComponent("after.png"))
                #expect(try after != Data(contentsOf: before) && after.starts(with: [0x89, 0x50, 0x4E, 0x47]))
                let guide = Programs.repository.appendingPathComponent("docs/guide/swift.md")
                let source = Programs.repository.appendingPathComponent("Examples/act-in-swift/main.swift")
                let texts = try [guide, source].map { try String(contentsOf: $0, encoding: .utf8) }
                #expect(texts[0].contains("```swift\n\(texts[1])```\n"), "the guide has another program")
                let again = try place.run("env", program)
                #expect(again.status == 1 && again.output.contains("did not show dialog"), "\(again)")
            }
        }

        @Test("the examples launch an application, click the button that they wait for, type, and save the screen")
        func examples() async throws {
            try await InputPlace.with(.sway, application: "form") { place in
                let directory = place.desktop.directory
                try place.desktop.stageCommand()
                try await place.relay.put("/v1/devices/default/sessions/look", [:])
                // The desktop's user must be able to read the picture, and to write its own.
                let work = directory.appendingPathComponent("work")
                try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
                chmod(work.path, 0o777)
                for name in ["act-in-a-shell", "act_in_python.py"] {
                    let copy = work.appendingPathComponent(name)
                    try FileManager.default.copyItem(
                        at: Programs.repository.appendingPathComponent("Examples/\(name)"),
                        to: copy
                    )
                    chmod(copy.path, 0o755)
                }
                let clients = work.appendingPathComponent("python")
                try FileManager.default.copyItem(
                    at: Programs.repository.appendingPathComponent("Clients/python/heliograph"),
                    to: clients.appendingPathComponent("heliograph", isDirectory: true)
                )
                _ = try Self.savedButton(in: work, place)
                for program in [["bash", "act-in-a-shell"], ["python3", "act_in_python.py"]] {
                    let outcome = try place.run(
                        "env",
                        [
                            "--chdir", work.path, "PYTHONPATH=\(clients.path)", "PYTHONDONTWRITEBYTECODE=1",
                            "HELIOGRAPH_RELAY=http://127.0.0.1:\(place.relay.httpPort)",
                        ] + program + ["form", "button.png", "100,80", "Hello"]
                    )
                    #expect(outcome.status == 0, "\(outcome)")
                    let events = try place.desktop.inputEvents(in: "form")
                    let click = try #require(events.first { $0.name == "button" && $0.fields[1] == "down" }?.place)
                    #expect(abs(click.x - 105.5) <= 1 && abs(click.y - 85.5) <= 1, "\(click)")
                    #expect(events.map(\.text).joined() == "Hello\r", "\(events)")
                    #expect(FileManager.default.fileExists(atPath: work.appendingPathComponent("after.png").path))
                    try FileManager.default.removeItem(at: work.appendingPathComponent("after.png"))
                    // No pointer covers the button of the next one.
                    try place.act(["session": "look", "click": ["x": 900, "y": 600] as RelayProcess.Object])
                }
            }
        }
    }
}
