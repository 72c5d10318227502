import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// What scripts use, on a real desktop.
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

        /// Starts the command and does not wait for it.
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

        /// ffprobe's figures of a movie: how long it is, and how long its last picture ends after its first one begins, in s.
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

        /// The counters of all pictures of a movie; -1 for one that shows none. Throws when a decoder complains.
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
                // With repeats, where it rests before long, and without.
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
                    #expect(moving.status == 75 && moving.errors.contains("wait_timeout"), "\(moving.errors)")
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
                // Of a static screen without repeats: one picture that lasts.
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
                // Of a picture that is alone, ffprobe tells the frame rate's duration.
                #expect(abs(lengths.format - 2) < 0.05, "\(lengths)")
            }
        }

        @Test("records until it is told to stop; what breaks off plays as far as it came")
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
                    // Its length is in its head only when it is complete.
                    let lengths = try Self.lengths(of: movie)
                    #expect(abs(lengths.format - lengths.packets) < 0.05, "\(lengths)")
                }
            }
        }

        @Test("says what is wrong with what it is to write")
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

                // A disk that is full.
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

                // A relay that is killed.
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
