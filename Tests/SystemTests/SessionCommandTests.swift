import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of `heliograph` in scripts, on two devices that show the test pattern. Viewers may start the left one.
    @Suite("Commands of scripts")
    struct SessionCommandTests {
        private static let configuration = """
            source: {kind: test-pattern, width: 320, height: 240, fps: 30}
            devices:
              left: {onDemand: true}
              right: {}
            """

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private func relay(_ arguments: String...) async throws -> RelayProcess {
            let file = try scratch.write(Array(Self.configuration.utf8), to: "relay.yaml")
            return try await RelayProcess(
                arguments: ["--config", file.path, "--state-file", "none", "--session-port-base", "0"] + arguments,
                environment: ["XDG_STATE_HOME": scratch.file("state").path]
            )
        }

        private func heliograph(_ relay: RelayProcess?, _ arguments: String...) throws -> Programs.Outcome {
            try run(relay, arguments)
        }

        /// Runs `heliograph`; without a relay, against a port on which nothing listens. No message may recommend curl.
        private func run(_ relay: RelayProcess?, _ arguments: [String]) throws -> Programs.Outcome {
            let outcome = try Programs.run(
                Programs.product("heliograph"),
                arguments,
                environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay?.httpPort ?? 9)"],
                directory: scratch.folder
            )
            for route in ["/v1", "/screencapture", "GET ", "PUT ", "POST ", "PATCH ", "DELETE "] {
                #expect(!outcome.errors.contains(route), "\(outcome.errors)")
            }
            return outcome
        }

        private func object(_ outcome: Programs.Outcome) throws -> RelayProcess.Object {
            try #require(
                try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? RelayProcess.Object,
                "\(outcome.errors)"
            )
        }

        @Test("run starts a program when a picture has come, has its status, and leaves a movie and the last picture")
        func program() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            func record(_ more: [String], _ words: String...) throws -> Programs.Outcome {
                try run(relay, ["run", "--device", "left", "test", "--output", "test.mp4"] + more + ["--"] + words)
            }
            let early = try record(["--wait", "0.5"], "touch", "started")
            #expect(early.status == 1 && early.errors.contains("session start test --device left"), "\(early.errors)")
            #expect(!FileManager.default.fileExists(atPath: scratch.file("started").path))
            // The command comes before the session.
            let script = """
                "$0" run --device left test --output test.mp4 --last last.png -- sh -c "cat; echo out; sleep 1; exit 3" &
                sleep 1
                "$0" start --device left >/dev/null
                "$0" session start test --device left --on-demand >/dev/null
                wait $!
                """
            let tested = try Programs.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", script, Programs.product("heliograph").path],
                environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"],
                directory: scratch.folder
            )
            #expect(tested.status == 3 && tested.output == "out\n", "\(tested)")
            #expect(tested.errors.contains("test.mp4: ") && tested.errors.contains("last.png: "), "\(tested.errors)")
            let size = PictureSize(width: 320, height: 240)
            let luma = try FFmpeg.luma(ofPictureAt: scratch.file("last.png").path, size: size)
            #expect(Pictures.counter(luma: luma, size: size) != nil)
            let length = try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", scratch.file("test.mp4").path]
            )
            #expect(Double(length.trimmingCharacters(in: .newlines)).map { $0 >= 0.9 } == true, "\(length)")

            #expect(try record([], "nowhere").status == 127)
            #expect(try record([], "/dev/null").status == 127)
            #expect(try record([], "sh", "-c", "kill $$").status == 128 + SIGTERM)
        }

        @Test("a session has a name: it starts, changes, is listed and shown, and ends, also twice")
        func sessions() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            let ambiguous = try heliograph(relay, "session", "start", "door")
            #expect(ambiguous.status == 1 && ambiguous.errors.contains("left, right"), "\(ambiguous.errors)")
            func session(_ command: String, _ arguments: String...) throws -> Programs.Outcome {
                try run(relay, ["session", command, "door", "--device", "left"] + arguments)
            }
            let started = try session("start", "--fps", "15", "--label", "front", "--ttl", "600", "--on-demand")
            #expect(started.output.hasPrefix("started session 1 (door): h264 source size@15"), "\(started)")
            let changed = try object(try session("start", "--width", "160", "--json"))
            #expect(changed.integer("width") == 160 && changed.integer("fps") == 30 && changed.string("label") == nil)
            #expect(changed["onDemand"] as? Bool == false && changed.integer("ttl") == 0)
            let codec = try session("start", "--codec", "h265")
            #expect(codec.status == 1 && codec.errors.contains("not_changeable"), "\(codec.errors)")
            #expect(try session("set", "--fps", "12").output.hasPrefix("session 1 (door): h264 160x*@12"))
            #expect(try heliograph(relay, "set", "1", "--fps", "11").output.contains("@11"))
            let set = try heliograph(
                relay,
                "set",
                "--name",
                "door",
                "--device",
                "left",
                "--bitrate",
                "900000",
                "--json"
            )
            #expect(try object(set).integer("bitrate") == 900_000)
            #expect(try session("set").status == 64)

            _ = try heliograph(relay, "session", "start", "yard", "--device", "right", "--label", "back")
            let list = try heliograph(relay, "session", "list").output.split(separator: "\n")
            #expect(list.count == 2 && list.first?.hasPrefix("session 1 (door): device left, waiting") == true)
            for selection in [["--device", "right"], ["--name", "yard"], ["--label", "back"]] {
                let found = try run(relay, ["session", "list", "--json"] + selection)
                let sessions = try object(found)["sessions"] as? [RelayProcess.Object]
                #expect(sessions?.map { $0.string("name") } == ["yard"], "\(selection)")
            }
            #expect(try heliograph(relay, "session", "list", "--state", "live").output == "")
            #expect(try heliograph(relay, "session", "show", "2").output.contains("device right, waiting"))
            #expect(try object(try session("show", "--json")).integer("id") == 1)
            let absent = try heliograph(relay, "session", "show", "gate", "--device", "right")
            #expect(absent.status == 1 && absent.errors.contains("heliograph session start gate --device right"))

            #expect(try session("stop").output == "session door of device left: stopped\n")
            let again = try session("stop", "--json")
            #expect(again.status == 0 && again.output == "{\"stopped\":0}\n")
            #expect(try heliograph(relay, "session", "stop", "1").status == 1)
            #expect(
                try heliograph(relay, "session", "stop", "--all", "--device", "left").output == "sessions stopped: 0\n"
            )
            #expect(try heliograph(relay, "session", "stop", "--all").output == "sessions stopped: 1\n")
        }

        @Test("what names no session, or two, is refused before the relay is asked")
        func selection() throws {
            for arguments in [
                ["session", "start", "12"], ["session", "start", "a.b"], ["session", "show"], ["session", "stop"],
                ["session", "stop", "--device", "left"], ["session", "stop", "door", "--all"], ["snapshot"],
                ["snapshot", "1", "--device", "left"], ["keyframe", "door", "--name", "door"], ["keyframe", "a.b"],
                ["watch", "new", "--name", "door", "--output", "x.mp4"],
                ["watch", "door", "--codec", "h265", "--output", "x.mp4"],
                ["run", "door", "--output", "x.mp4"], ["run", "door", "--output", "x.png", "--", "true"],
                ["run", "--output", "x.mp4", "--", "true"], ["run", "door", "--output", "x.mp4", "true"],
            ] {
                let outcome = try run(nil, arguments)
                #expect(outcome.status == 64, "\(arguments): \(outcome.errors)")
            }
        }

        @Test("a device's own address is enough for a picture, a movie, a wait and a keyframe; viewers start it")
        func deviceAddress() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            let picture = try heliograph(relay, "snapshot", "--device", "left", "--output", "left.png")
            #expect(picture.status == 0, "\(picture.errors)")
            let size = PictureSize(width: 320, height: 240)
            let luma = try FFmpeg.luma(ofPictureAt: scratch.file("left.png").path, size: size)
            #expect(Pictures.counter(luma: luma, size: size) != nil)
            let movie = try heliograph(relay, "watch", "--device", "left", "--output", "left.mp4", "--duration", "1")
            #expect(movie.status == 0 && movie.errors.contains("1.000 s"), "\(movie.errors)")
            let changed = try heliograph(relay, "wait", "--device", "left", "--until", "changed")
            #expect(changed.output.hasPrefix("session 1 (shared): changed at PTS "), "\(changed)")
            let keyframe = try heliograph(relay, "keyframe", "--device", "left", "--json")
            #expect(try object(keyframe).integer("id") == 1)
            _ = try heliograph(relay, "session", "start", "door", "--device", "left")
            for selection in [["door", "--device", "left"], ["--name", "door", "--device", "left"], ["2"]] {
                let taken = try run(relay, ["snapshot", "--fresh"] + selection)
                #expect(taken.errors.hasPrefix(selection == ["2"] ? "session-2.jpg: " : "door.jpg: "), "\(taken)")
            }
            let own = try heliograph(
                relay,
                "watch",
                "new",
                "--device",
                "left",
                "--output",
                "own.mp4",
                "--duration",
                "1"
            )
            #expect(own.status == 0, "\(own.errors)")

            // Viewers may not start the other device.
            let refused = try heliograph(relay, "snapshot", "--device", "right")
            #expect(refused.status == 1 && refused.errors.contains("heliograph session start shared --device right"))
            _ = try heliograph(relay, "session", "start", "shared", "--device", "right")
            let idle = try heliograph(relay, "snapshot", "--device", "right")
            #expect(idle.status == 1 && idle.errors.contains("`heliograph start`"), "\(idle.errors)")
        }

        @Test("a wait says what came of it, and its exit status tells a script")
        func waits() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            _ = try heliograph(relay, "start", "--device", "left")
            _ = try heliograph(relay, "session", "start", "door", "--device", "left")
            let part = ["wait", "door", "--device", "left"]
            func wait(_ arguments: String...) throws -> Programs.Outcome {
                try run(relay, part + arguments)
            }
            let moving = try wait("--until", "static", "--for", "2", "--timeout", "1", "--json")
            #expect(moving.status == 75, "\(moving)")
            #expect(moving.errors.contains("session 1 (door): the screen was not static for 2 s within 1 s"))
            #expect(try object(moving).string("outcome") == "timeout")
            let changed = try wait("--until", "changed", "--tolerance", "4", "--share", "0", "--json")
            #expect(changed.status == 0 && changed.output.contains(#""box":{"x":"#), "\(changed)")
            // The whole screen is ignored, so it is static.
            let ignored = try wait(
                "--until",
                "static",
                "--for",
                "0.5",
                "--region",
                "0,0,320,240",
                "--ignore",
                "0,0,160,240",
                "--ignore",
                "160,0,160,240"
            )
            #expect(ignored.status == 0 && ignored.output.contains("static for"), "\(ignored)")
            let outside = try wait("--until", "static", "--region", "0,0,4000,10")
            #expect(outside.status == 1 && outside.errors.contains("out_of_range"), "\(outside)")
            for arguments in [
                ["--until", "moved"], ["--until", "static", "--region", "0,0,0,1"],
                ["--until", "static", "--ignore", "1,2,3"],
                ["--until", "changed", "--region", "0,0,9,9", "--after", "1"],
                ["--until", "matches", "--template", "x"], ["--until", "gone", "--template", "x", "--at", "1"],
                ["--until", "static", "--template", "x", "--at", "0,0"], ["--until", "static", "--timeout", "601"],
                ["--until", "matches", "--template", "x", "--at", "0,0", "--for", "1"],
            ] {
                let wrong = try run(relay, part + arguments)
                #expect(wrong.status == 64, "\(arguments): \(wrong.errors)")
            }

            let dark = try heliograph(relay, "session", "start", "dark", "--device", "right")
            #expect(dark.status == 0)
            let lost = try heliograph(
                relay,
                "wait",
                "dark",
                "--device",
                "right",
                "--until",
                "changed",
                "--timeout",
                "0.5"
            )
            #expect(lost.status == 75 && lost.errors.contains("heliograph status --device right"), "\(lost)")

            let process = Process()
            process.executableURL = Programs.product("heliograph")
            process.arguments =
                ["wait", "dark", "--device", "right", "--until", "changed", "--timeout", "60"]
                + ["--relay", "http://127.0.0.1:\(relay.httpPort)"]
            let errors = Pipe()
            process.standardError = errors
            process.standardInput = FileHandle.nullDevice
            try Programs.start(process)
            try await Task.sleep(for: .seconds(1))
            _ = try heliograph(relay, "session", "stop", "dark", "--device", "right")
            process.waitUntilExit()
            let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            #expect(process.terminationStatus == 1 && message.contains("session 2 (dark) has ended"), "\(message)")
        }

        @Test("a template is a file, which is uploaded once, or a name")
        func templates() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            let black = try scratch.write(PNG.make(width: 16, height: 8), to: "all black.png").path
            // The cell there is white: the complement of the counter's highest bit.
            let wait = ["wait", "--device", "left", "--until", "gone", "--at", "0,70", "--timeout", "10", "--template"]
            for _ in 0..<2 {
                let gone = try run(relay, wait + [black])
                #expect(gone.status == 0 && gone.output.contains("all black.png is gone since"), "\(gone)")
            }
            let listed = try heliograph(relay, "template", "list", "--device", "left").output
            #expect(listed.hasPrefix("left: template all-black-") && listed.split(separator: "\n").count == 1)
            #expect(listed.contains(", 16x8, "))
            let put = try heliograph(relay, "template", "put", black, "--name", "black", "--device", "left", "--json")
            #expect(try object(put).integer("width") == 16)
            let named = try run(relay, wait + ["black"])
            #expect(named.status == 0, "\(named)")
            let delete = ["template", "delete", "black", "--device", "left"]
            for answer in ["left: template black deleted\n", "device left has no template black\n"] {
                let deleted = try run(relay, delete)
                #expect(deleted.status == 0 && deleted.output == answer, "\(deleted)")
            }
            let unknown = try heliograph(
                relay,
                "wait",
                "--device",
                "left",
                "--until",
                "gone",
                "--at",
                "0,0",
                "--template",
                "black"
            )
            #expect(unknown.status == 1 && unknown.errors.contains("heliograph template put"), "\(unknown.errors)")
            let text = try scratch.write(Array("no picture".utf8), to: "text.png").path
            let noPicture = try heliograph(relay, "template", "put", text, "--device", "left")
            #expect(noPicture.status == 1 && noPicture.errors.contains("text.png is not a PNG"), "\(noPicture.errors)")
            let nowhere = try heliograph(
                relay,
                "wait",
                "1",
                "--until",
                "gone",
                "--at",
                "0,0",
                "--template",
                "nowhere.png"
            )
            #expect(nowhere.status == 1 && nowhere.errors.contains("nowhere.png"), "\(nowhere.errors)")
        }

        @Test("events are those that are kept, or what happens, also over the relay's next start")
        func events() async throws {
            let first = try await relay()
            _ = try heliograph(first, "session", "start", "before", "--device", "left")
            let kept = try heliograph(first, "events", "--types", "session")
            #expect(kept.status == 0 && kept.output.contains("session.started device left session 1 (before)"))
            #expect(try heliograph(first, "events", "--types", "viewer,keys").output == "")
            #expect(try heliograph(first, "events", "--types", "sessions").status == 64)
            #expect(
                try object(try heliograph(first, "events", "--session", "before", "--json")).integer("session") == 1
            )
            #expect(try heliograph(first, "events", "--session", "other").output == "")
            #expect(try heliograph(first, "events", "--device", "right").output == "")

            let file = scratch.file("events")
            try Data().write(to: file)
            let following = Process()
            following.executableURL = Programs.product("heliograph")
            following.arguments =
                ["events", "--follow", "--types", "session.started", "--json"]
                + ["--relay", "http://127.0.0.1:\(first.httpPort)"]
            following.standardOutput = try FileHandle(forWritingTo: file)
            following.standardInput = FileHandle.nullDevice
            try Programs.start(following)
            defer { following.terminate() }
            func names() throws -> [String] {
                try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
                    let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? RelayProcess.Object
                    return event?.string("name") ?? ""
                }
            }
            // The command has begun when it prints an event.
            _ = try await eventually("an event") { () -> Bool? in
                _ = try heliograph(first, "session", "start", "a\(UUID().uuidString)", "--device", "left")
                _ = try heliograph(first, "session", "stop", "--all")
                return try names().isEmpty ? nil : true
            }
            #expect(try !names().contains("before"))
            let port = first.httpPort
            first.terminate()
            let second = try await relay("--http", "127.0.0.1:\(port)")
            defer { second.terminate() }
            _ = try heliograph(second, "session", "start", "after", "--device", "right")
            _ = try await eventually("the next relay's event") { try names().last == "after" ? true : nil }
            #expect(try names().count { $0 == "after" } == 1)
            let here = try Programs.run(
                URL(fileURLWithPath: "/bin/bash"),
                ["-c", "\"$0\" events --follow | head -n 0", Programs.product("heliograph").path],
                environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:9"]
            )
            #expect(here.errors.contains("is heliograph-relay running?"), "\(here)")
        }

        @Test("bash completes devices and sessions, and is silent without a relay")
        func completions() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            for (name, device) in [("door", "left"), ("yard", "right")] {
                _ = try heliograph(relay, "session", "start", name, "--device", device)
            }
            /// Returns what bash offers at the end of a line.
            func offers(_ line: String, at port: Int, url: String? = nil) throws -> [Substring] {
                // As in readline: a word ends at a colon.
                let words = line.split(separator: " ", omittingEmptySubsequences: false)
                    .flatMap {
                        $0.replacingOccurrences(of: ":", with: " : ").split(
                            separator: " ",
                            omittingEmptySubsequences: !$0.isEmpty
                        )
                    }
                    .map { "'\($0)'" }
                let script = """
                    shopt -s extglob; PATH="$(dirname "$0"):$PATH"
                    source <("$0" --generate-completion-script bash)
                    COMP_WORDS=(\(words.joined(separator: " "))) COMP_LINE='\(line)' COMP_POINT=\(line.count)
                    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
                    _heliograph heliograph "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>&1
                    printf '%s\\n' "${COMPREPLY[@]}"
                    """
                let outcome = try Programs.run(
                    URL(fileURLWithPath: "/bin/bash"),
                    ["-c", script, Programs.product("heliograph").path],
                    environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(port)"]
                )
                #expect(outcome.errors == "", "\(line): \(outcome.errors)")
                return outcome.output.split(separator: "\n").filter { !$0.hasPrefix("-") }
            }
            let port = relay.httpPort
            #expect(try offers("heliograph snapshot --device ", at: port) == ["left", "right"])
            #expect(try offers("heliograph snapshot --device r", at: port) == ["right"])
            #expect(try offers("heliograph session show ", at: port) == ["1", "door", "2", "yard"])
            #expect(try offers("heliograph session stop --device right ", at: port) == ["yard"])
            #expect(try offers("heliograph keyframe --name d", at: port) == ["door"])
            let url = "--relay http://127.0.0.1:\(port)"
            #expect(try offers("heliograph start \(url) --device ", at: 9) == ["left", "right"])
            let began = ContinuousClock.now
            #expect(try offers("heliograph snapshot --device ", at: 9).isEmpty)
            #expect(ContinuousClock.now - began < .seconds(5))
        }

        @Test("a speed test counts what the session's pictures take, and does not raise its bitrate")
        func speed() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            #expect(try heliograph(relay, "start", "--device", "left").status == 0)
            #expect(try heliograph(relay, "session", "start", "door", "--device", "left").status == 0)
            let door = ["door", "--device", "left", "--json"]
            let report = try object(run(relay, ["speedtest", "--apply", "--for", "1"] + door))
            let beside = try #require(report["session"] as? RelayProcess.Object)
            #expect(try #require(beside["bitrate"] as? Int) > 0)
            #expect(try #require(beside["pictures"] as? Int) > 0)
            let session = try object(run(relay, ["session", "show"] + door))
            let bitrate = try #require(session["bitrate"] as? Int)
            #expect(report["applied"] as? Int == bitrate)
            #expect(try #require(report["recommended"] as? Int) > bitrate)
            let absent = try heliograph(relay, "speedtest", "attic", "--device", "left")
            #expect(absent.status == 1 && absent.errors.contains("no session attic"), "\(absent.errors)")
        }

        @Test("statistics say how a session arrives, a line a second")
        func statistics() async throws {
            let relay = try await relay()
            defer { relay.terminate() }
            #expect(try heliograph(relay, "start", "--device", "left").status == 0)
            #expect(try heliograph(relay, "session", "start", "door", "--device", "left").status == 0)
            let door = ["door", "--device", "left"]
            let lines = try run(relay, ["stats", "--json", "--for", "5"] + door).output.split(separator: "\n")
            try #require(lines.count == 5, "\(lines)")
            let last = try #require(
                try JSONSerialization.jsonObject(with: Data(lines[4].utf8)) as? RelayProcess.Object
            )
            #expect(try #require(last["pictures"] as? Int) > 0 && last["interruptions"] as? Int == 0)
            #expect(try #require(last["bitrate"] as? Int) > 0 && last["feed"] as? String == "primary")
            // One machine has one clock.
            let offset = try #require(last["clockOffsetMs"] as? Double)
            #expect(try abs(offset) <= #require(last["clockErrorMs"] as? Double))
            let latency = try #require(last["captureToReceive"] as? RelayProcess.Object)
            #expect(try #require(latency["p50Ms"] as? Double) > 0)
            #expect(try run(relay, ["stats", "--for", "1"] + door).output.contains(" pictures/s, "))
        }

        @Test("a broadcast's source may be a node or a monitor by its name")
        func sources() async throws {
            let desktop = try Desktop(.sway, client: false)
            defer { desktop.end() }
            try desktop.startProducer("camera", size: "640x360")
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            for (source, size) in [("node:camera", "640x360"), ("screenshot:HEADLESS-1", "1280x720")] {
                let started = try heliograph(relay, "start", "--source", source, "--timeout", "60")
                #expect(started.status == 0 && started.output.contains("\(size)"), "\(source): \(started)")
                let other = try heliograph(relay, "start", "--source", "test-pattern")
                #expect(other.status == 1 && other.errors.contains("broadcast_running"), "\(other.errors)")
                #expect(try object(try heliograph(relay, "stop", "--json"))["wasRunning"] as? Bool == true)
            }
            let absent = try heliograph(relay, "start", "--source", "screenshot:X-9")
            #expect(absent.status == 1 && absent.errors.contains("HEADLESS-1"), "\(absent.errors)")
            for source in ["node", "node:", "portal:x", "camera"] {
                #expect(try heliograph(relay, "start", "--source", source).status == 64)
            }
            let live = try object(try heliograph(relay, "start", "--source", "test-pattern", "--json"))
            #expect(live.string("state") == "live")
        }
    }
}
