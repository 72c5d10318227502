import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of what scripts use, on a real desktop.
    @Suite("Automation")
    struct AutomationTests {
        private static let size = PictureSize(width: 1280, height: 720)

        private static func run(_ relay: RelayProcess, in directory: URL, _ arguments: String...) throws
            -> Programs.Outcome
        {
            try Programs.run(
                Programs.product("heliograph"),
                arguments,
                environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"],
                directory: directory
            )
        }

        /// Starts the command without waiting for its end.
        private static func start(_ relay: RelayProcess, in directory: URL, _ arguments: String...) throws -> Process {
            let process = Process()
            process.executableURL = Programs.product("heliograph")
            process.arguments = arguments
            process.environment = ProcessInfo.processInfo.environment
                .merging(["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"]) { $1 }
            process.currentDirectoryURL = directory
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try Programs.start(process)
            return process
        }

        /// Returns ffprobe's figures of a movie, in s: its length, and the time from its first picture's start to its
        /// last one's end.
        private static func lengths(of movie: URL) throws -> (format: Double, packets: Double) {
            let format = try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "warning", "-show_entries", "format=duration", "-of", "csv=p=0", movie.path]
            )
            let packets = try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "warning", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", movie.path]
            ).split(separator: "\n").map { $0.split(separator: ",").compactMap { Double($0) } }
            let (first, last) = (try #require(packets.first), try #require(packets.last))
            let length = try #require(Double(format.trimmingCharacters(in: .newlines)))
            return (length, last[0] + last[1] - first[0])
        }

        /// Returns the counters of all pictures of a movie; -1 for a picture without one. Throws if a decoder
        /// complains.
        private static func counters(of movie: URL) throws -> [Int] {
            let bare = movie.deletingPathExtension().appendingPathExtension("copy")
            _ = try Tool.run(
                "/usr/bin/ffmpeg",
                ["-v", "error", "-nostdin", "-i", movie.path, "-c", "copy", "-f", "h264", "-y", bare.path]
            )
            return try FFmpeg.decodeLuma(h264: try Data(contentsOf: bare), size: size).map {
                Pictures.counter(luma: $0, size: size) ?? -1
            }
        }

        @Test("waits for a screen that is static, and for one that changes")
        func wait() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                // With repeats, the session soon rests.
                for (session, repeats) in [("1", true), ("2", false)] {
                    _ = try await relay.startSession(["repeat": repeats])
                    let moving = try Self.run(
                        relay,
                        in: desktop.directory,
                        "wait",
                        session,
                        "--until",
                        "static",
                        "--for",
                        "3",
                        "--timeout",
                        "1"
                    )
                    #expect(
                        moving.status == 75 && moving.errors.contains("was not static for 3 s within 1 s"),
                        "\(moving.errors)"
                    )
                    let changing = try Self.run(relay, in: desktop.directory, "wait", session, "--until", "changed")
                    #expect(changing.status == 0 && changing.output.contains("changed"), "\(changing.errors)")
                    try desktop.pause()
                    let unchanged = try Self.run(relay, in: desktop.directory, "wait", session, "--until", "static")
                    #expect(unchanged.status == 0 && unchanged.output.contains("static for"), "\(unchanged.errors)")
                    let none = try Self.run(
                        relay,
                        in: desktop.directory,
                        "wait",
                        session,
                        "--until",
                        "changed",
                        "--timeout",
                        "2"
                    )
                    #expect(none.status == 75, "\(none.output)")
                    let waiting = try Self.start(relay, in: desktop.directory, "wait", session, "--until", "changed")
                    try await Task.sleep(for: .seconds(1))
                    #expect(waiting.isRunning)
                    try desktop.resume()
                    waiting.waitUntilExit()
                    #expect(waiting.terminationStatus == 0)
                }
                let wrong = try Self.run(relay, in: desktop.directory, "wait", "1", "--until", "moved")
                #expect(wrong.status == 64)
                #expect(try Self.run(relay, in: desktop.directory, "wait", "9", "--until", "static").status == 1)
            }
        }

        /// Calls the relay as a script does. An error of the relay fails the test.
        private static func curl(_ relay: RelayProcess, in directory: URL, _ path: String, arguments: [String]) throws
            -> String
        {
            let url = "http://127.0.0.1:\(relay.httpPort)/v1/devices/default/\(path)"
            let outcome = try Programs.run(
                URL(fileURLWithPath: "/usr/bin/curl"),
                ["--silent", "--show-error", "--fail-with-body"] + arguments + [url],
                environment: [:],
                directory: directory
            )
            guard outcome.status == 0 else { throw NeverCame(description: "\(path): \(outcome.output)") }
            return outcome.output
        }

        @Test("waits for a part of a snapshot to be on the screen, and to be gone, in its own pixels")
        func template() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                // This region has the counter's lowest bits, which change all the time.
                for (name, size, x, y, width, height) in [
                    ("whole", "{}", 940, 10, 300, 100), ("half", #"{"width": 640}"#, 470, 5, 150, 50),
                ] {
                    let region = "\(x),\(y),\(width),\(height)"
                    func curl(_ path: String, _ arguments: String...) throws -> String {
                        try Self.curl(relay, in: desktop.directory, path, arguments: arguments)
                    }
                    _ = try curl("sessions/\(name)", "-X", "PUT", "-d", size)
                    try desktop.pause()
                    let settled = try curl("sessions/\(name)/wait?until=static&for=0.5&region=\(region)")
                    #expect(settled.contains(#""outcome":"happened""#), "\(settled)")
                    _ = try curl("sessions/\(name)/snapshot.png?fresh=true", "--output", "\(name).png")
                    _ = try Tool.run(
                        "/usr/bin/ffmpeg",
                        [
                            "-v", "error", "-nostdin", "-y", "-i", desktop.directory.path + "/\(name).png",
                            "-vf", "crop=\(width):\(height):\(x):\(y)", "-pix_fmt", "rgba", "-update", "1",
                            desktop.directory.path + "/\(name)-part.png",
                        ]
                    )
                    _ = try curl("templates/\(name)", "-X", "PUT", "--data-binary", "@\(name)-part.png")
                    let place = "template=\(name)&at=\(x),\(y)"
                    let found = try curl("sessions/\(name)/wait?until=matches&\(place)&timeout=10")
                    #expect(found.contains(#""outcome":"happened""#), "\(found)")
                    let box = #""box":{"x":\#(x),"y":\#(y),"width":\#(width),"height":\#(height)}"#
                    #expect(found.contains(box), "\(found)")
                    let still = try curl("sessions/\(name)/wait?until=gone&\(place)&timeout=1")
                    #expect(still.contains(#""outcome":"timeout""#), "\(still)")
                    try desktop.resume()
                    let gone = try curl("sessions/\(name)/wait?until=gone&\(place)&timeout=20")
                    #expect(gone.contains(#""outcome":"happened""#), "\(gone)")
                    let moving = try curl("sessions/\(name)/wait?until=changed&region=\(region)&timeout=20")
                    #expect(moving.contains(#""outcome":"happened""#), "\(moving)")
                }
            }
        }

        /// A script of Examples that waits until the screen shows picture.png at 940,10 after a command.
        private enum Example: String, CaseIterable {
            case shell = "test-in-a-shell"
            case python = "test_in_python.py"

            /// The exit status if the picture does not come.
            var failure: Int32 { self == .shell ? 75 : 1 }
            /// The message in that case.
            var complaint: String { self == .shell ? "did not show picture.png" : "was not matches picture" }
            /// The movie that it keeps in that case.
            var movie: String {
                self == .shell
                    ? "failure.mp4"
                    : "heliograph-artifacts/test_the_command_brings_the_picture_to_the_screen.mp4"
            }

            /// The time that it waits for the picture. A test needs less of it.
            private var patience: String { self == .shell ? "--timeout 20" : "timeout=20" }

            /// Copies it to a folder, with less patience.
            private func copied(to directory: URL) throws -> URL {
                let file = Programs.repository.appendingPathComponent("Examples/\(rawValue)")
                let text = try String(contentsOf: file, encoding: .utf8)
                try #require(text.contains(patience))
                let copy = directory.appendingPathComponent(rawValue)
                try text.replacing(patience, with: patience.replacing("20", with: "5"))
                    .write(to: copy, atomically: true, encoding: .utf8)
                chmod(copy.path, 0o755)
                return copy
            }

            func run(_ command: String, _ relay: RelayProcess, in directory: URL) throws -> Programs.Outcome {
                let file = try copied(to: directory)
                let environment = [
                    "HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)",
                    "PATH": "\(Programs.products.path):/usr/bin:/bin",
                    // The Python script needs these two.
                    "PYTHONPATH": Programs.repository.appendingPathComponent("Clients/python").path,
                    "PYTHONDONTWRITEBYTECODE": "1", "COMMAND": command, "PICTURE": "picture.png", "PLACE": "940,10",
                ]
                return switch self {
                case .shell:
                    try Programs.run(
                        file,
                        ["picture.png", "940,10", "bash", "-c", command],
                        environment: environment,
                        directory: directory
                    )
                case .python:
                    try Programs.run(
                        URL(fileURLWithPath: "/usr/bin/python3"),
                        [
                            "-m", "pytest", "-p", "no:cacheprovider", "-p", "heliograph.pytest_plugin", "--rootdir",
                            directory.path, file.path,
                        ],
                        environment: environment,
                        directory: directory
                    )
                }
            }
        }

        @Test("the examples wait for what a command brings to the screen, and keep a movie only if that does not come")
        func examples() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let directory = desktop.directory
            /// Stops the counter at a value.
            func show(_ value: Int) async throws {
                try desktop.restartClient(["--stop-at", "\(value)"])
                _ = try await eventually("the value \(value)") { (try? desktop.shownValue()) == value ? true : nil }
            }
            try await show(30)
            #expect(try Self.run(relay, in: directory, "start", "--timeout", "60").status == 0)
            #expect(try Self.run(relay, in: directory, "session", "start", "look").status == 0)
            let seen = try Self.run(relay, in: directory, "snapshot", "look", "--fresh", "--output", "screen.png")
            #expect(seen.status == 0, "\(seen.errors)")
            _ = try Tool.run(
                "/usr/bin/ffmpeg",
                [
                    "-v", "error", "-nostdin", "-y", "-i", directory.path + "/screen.png",
                    "-vf", "crop=300:100:940:10", "-pix_fmt", "rgba", "-update", "1", directory.path + "/picture.png",
                ]
            )
            let press = "\(Programs.desktop.path) client \(directory.path)"
            let runs = Example.allCases.flatMap {
                [($0, "\(press) stop && \(press) start --stop-at 30"), ($0, "true")]
            }
            for (example, command) in runs {
                let succeeds = command != "true"
                try await show(10)
                let outcome = try example.run(command, relay, in: directory)
                #expect(outcome.status == (succeeds ? 0 : example.failure), "\(example) \(command): \(outcome)")
                let movie = directory.appendingPathComponent(example.movie)
                #expect(FileManager.default.fileExists(atPath: movie.path) == !succeeds, "\(example) \(command)")
                for picture in ["before.png"] + (succeeds ? ["after.png"] : []) {
                    let luma = try FFmpeg.luma(ofPictureAt: directory.path + "/\(picture)", size: Self.size)
                    let value = picture == "after.png" ? 30 : 10
                    #expect(Pictures.counter(luma: luma, size: Self.size) == value, "\(picture)")
                }
                guard !succeeds else { continue }
                let counters = try Self.counters(of: movie)
                #expect(Set(counters) == [10], "\(example)")
                #expect((outcome.errors + outcome.output).contains(example.complaint), "\(example): \(outcome)")
                guard example == .shell else { continue }
                // Only a complete movie has its length in its head. The Python client writes fragments as they come.
                let lengths = try Self.lengths(of: movie)
                #expect(lengths.format > 4 && abs(lengths.format - lengths.packets) < 0.05, "\(lengths)")
            }
            let left = try Self.run(relay, in: directory, "session", "list").output
            #expect(left.split(separator: "\n").count == 1, "\(left)")
        }

        @Test("records a movie that lasts what the clock says, of which all pictures decode")
        func movie() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                let session = try await relay.startSession([:]).integer("id")
                for (name, id) in [("late.mp4", "\(session)"), ("own.mp4", "new")] {
                    let outcome = try Programs.run(
                        Programs.product("heliograph"),
                        ["watch", id, "--output", name, "--duration", "3"],
                        environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"],
                        directory: desktop.directory
                    )
                    #expect(outcome.status == 0, "\(outcome.errors)")
                    #expect(outcome.errors.contains("3.000 s"), "\(outcome.errors)")
                    let movie = desktop.directory.appendingPathComponent(name)
                    let lengths = try Self.lengths(of: movie)
                    #expect(abs(lengths.format - 3) < 0.05 && abs(lengths.packets - 3) < 0.05, "\(lengths)")
                    let counters = try Self.counters(of: movie)
                    #expect(counters.count > 20 && !counters.contains(-1))
                    #expect(counters == counters.sorted())
                }
                // A static screen without repeats gives one long picture.
                try desktop.pause()
                let unchanged = try await relay.startSession(["repeat": false]).integer("id")
                let watched = try Self.run(
                    relay,
                    in: desktop.directory,
                    "watch",
                    "\(unchanged)",
                    "-o",
                    "static.mp4",
                    "--duration",
                    "2"
                )
                #expect(watched.status == 0, "\(watched.errors)")
                let lengths = try Self.lengths(of: desktop.directory.appendingPathComponent("static.mp4"))
                // For a single picture, ffprobe reports the frame rate's duration.
                #expect(abs(lengths.format - 2) < 0.05, "\(lengths)")
            }
        }

        @Test("records until it is told to stop; a recording that breaks off is playable")
        func endings() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                _ = try await relay.startSession([:])
                func size(_ name: String) -> Int {
                    let path = desktop.directory.appendingPathComponent(name).path
                    return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
                }
                for (name, end) in [("stopped.mp4", SIGINT), ("killed.mp4", SIGKILL)] {
                    let watching = try Self.start(relay, in: desktop.directory, "watch", "1", "--output", name)
                    _ = try await eventually("pictures in the file") { size(name) > 400_000 ? true : nil }
                    kill(watching.processIdentifier, end)
                    watching.waitUntilExit()
                    let movie = desktop.directory.appendingPathComponent(name)
                    #expect(!(try Self.counters(of: movie)).contains(-1))
                    guard end == SIGINT else { continue }
                    #expect(watching.terminationStatus == 0)
                    // Only a complete movie has its length in its head.
                    let lengths = try Self.lengths(of: movie)
                    #expect(abs(lengths.format - lengths.packets) < 0.05, "\(lengths)")
                }
            }
        }

        @Test("says what is wrong with its output file")
        func faults() async throws {
            try await SystemTests.withBroadcast { desktop, relay in
                _ = try await relay.startSession(["codec": "h264"])
                let directory = desktop.directory
                #expect(try Self.run(relay, in: directory, "watch", "1", "--output", "x.avi").status == 64)
                #expect(
                    try Self.run(relay, in: directory, "watch", "1", "--output", "x.png", "--duration", "1").status
                        == 64
                )
                let codec = try Self.run(relay, in: directory, "watch", "1", "--output", "x.h265")
                #expect(codec.status == 1 && codec.errors.contains("h264"), "\(codec.errors)")
                let nowhere = try Self.run(relay, in: directory, "watch", "1", "--output", "nowhere/x.mp4")
                #expect(nowhere.status == 1 && nowhere.errors.contains("nowhere/x.mp4"), "\(nowhere.errors)")
                for arguments in [["1", "--output", "one.png"], ["new", "--output", "new.jpg"]] {
                    let picture = try Programs.run(
                        Programs.product("heliograph"),
                        ["watch"] + arguments,
                        environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"],
                        directory: directory
                    )
                    #expect(picture.status == 0, "\(picture.errors)")
                    let file = directory.appendingPathComponent(arguments[2])
                    let luma = try FFmpeg.luma(ofPictureAt: file.path, size: Self.size)
                    #expect(Pictures.counter(luma: luma, size: Self.size) != nil)
                }

                // A full disk.
                let full = try Programs.run(
                    URL(fileURLWithPath: "/bin/bash"),
                    [
                        "-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" watch 1 --output full.mp4",
                        Programs.product("heliograph").path,
                    ],
                    environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"],
                    directory: directory
                )
                #expect(full.status == 1 && full.errors.contains("cannot write full.mp4"), "\(full.errors)")
                #expect(full.errors.contains("not complete"), "\(full.errors)")
                let counters = try Self.counters(of: directory.appendingPathComponent("full.mp4"))
                #expect(!counters.contains(-1))

                // A killed relay.
                let watching = try Self.start(relay, in: directory, "watch", "1", "--output", "orphan.mp4")
                let orphan = directory.appendingPathComponent("orphan.mp4")
                _ = try await eventually("pictures in the file") {
                    (try? Data(contentsOf: orphan).count).map { $0 > 400_000 } == true ? true : nil
                }
                kill(relay.pid, SIGKILL)
                watching.waitUntilExit()
                #expect(watching.terminationStatus == 1)
                #expect(!(try Self.counters(of: orphan)).contains(-1))
            }
        }
    }
}
