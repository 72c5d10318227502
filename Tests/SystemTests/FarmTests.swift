import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of the scripts in Examples, on ten devices that show the test pattern.
    @Suite("The farm examples")
    struct FarmTests {
        private static let examples = Programs.repository.appendingPathComponent("Examples")
        private static let scripts = ["farm.py", "farm.sh"]
        private static let devices = (0..<10).map { "phone-\($0)" }
        private static let size = PictureSize(width: 640, height: 360)
        private static let fps = 30.0

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        private static func relay(_ arguments: String..., state: URL) async throws -> RelayProcess {
            let configuration = examples.appendingPathComponent("farm.yaml").path
            return try await RelayProcess(
                arguments: ["--config", configuration, "--state-file", "none"] + arguments,
                environment: ["XDG_STATE_HOME": state.path]
            )
        }

        private static func sessions(_ relay: RelayProcess) async throws -> [RelayProcess.Object] {
            try await relay.get("/screencapture")["sessions"] as? [RelayProcess.Object] ?? []
        }

        /// Returns ffprobe's figures of a movie that it decodes completely.
        private static func movie(_ file: URL) throws -> (pictures: Int, seconds: Double) {
            let times = try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "warning", "-show_entries", "frame=pts_time", "-of", "csv=p=0", file.path]
            ).split(separator: "\n").compactMap { Double($0) }
            let (first, last) = (try #require(times.first), try #require(times.last))
            return (times.count, last - first + 1 / fps)
        }

        @Test(
            "take a picture and a movie of each device at once, encrypted, with a key from a file",
            arguments: scripts
        )
        func run(_ script: String) async throws {
            let (keys, keyFile, state) = (
                scratch.file("keys.json").path, scratch.file("key").path, scratch.file("state")
            )
            let made = try Programs.run(
                Programs.product("heliograph"),
                ["keys", "make", "farm", "--role", "operator", "--keys-file", keys, "--output", keyFile]
            )
            #expect(made.status == 0, "\(made.errors)")
            let relay = try await Self.relay("--keys-file", keys, "--tls", "self-signed", state: state)
            defer { relay.terminate() }
            let output = scratch.file("screens")
            let outcome = try Programs.run(
                Self.examples.appendingPathComponent(script),
                ["--output", output.path, "--seconds", "2", "--until", "changed"],
                environment: [
                    "HELIOGRAPH_RELAY": "https://localhost:\(relay.httpPort)", "HELIOGRAPH_KEY_FILE": keyFile,
                    "SSL_CERT_FILE": state.appendingPathComponent("heliograph/tls-certificate.pem").path,
                ]
            )
            #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
            #expect(outcome.output.split(separator: "\n").count == Self.devices.count)
            for device in Self.devices {
                let picture = output.appendingPathComponent("\(device).png").path
                let luma = try FFmpeg.luma(ofPictureAt: picture, size: Self.size)
                #expect(Pictures.counter(luma: luma, size: Self.size) != nil, "\(device) shows its screen")
                let movie = try Self.movie(output.appendingPathComponent("\(device).mp4"))
                // A busy machine records less than two seconds.
                #expect(movie.pictures > 1, "\(device) \(movie)")
                #expect(Double(movie.pictures) <= (movie.seconds * Self.fps).rounded(.up), "\(device) \(movie)")
            }
        }

        @Test("leave nothing behind, even if they are killed while they record", arguments: [SIGKILL, SIGTERM])
        func killed(by signal: Int32) async throws {
            let relay = try await Self.relay(state: scratch.file("state"))
            defer { relay.terminate() }
            let half = Self.devices.count / 2
            let jobs = try zip(Self.scripts, [Self.devices[..<half], Self.devices[half...]]).map { script, devices in
                let process = Process()
                process.executableURL = Self.examples.appendingPathComponent(script)
                process.arguments =
                    [
                        "--relay", "http://127.0.0.1:\(relay.httpPort)", "--output", scratch.file("screens").path,
                        "--seconds", "600", "--until", "changed", "--ttl", signal == SIGKILL ? "5" : "600",
                    ] + devices
                process.standardInput = FileHandle.nullDevice
                process.standardError = FileHandle.nullDevice
                try Programs.start(process)
                return process
            }
            defer { for job in jobs { kill(-job.processIdentifier, SIGKILL) } }
            _ = try await eventually("ten movies under way") {
                let viewers = try await Self.sessions(relay).map { $0.integer("viewers") }
                return viewers == Self.devices.map { _ in 1 } ? true : nil
            }
            for job in jobs {
                let pid = job.processIdentifier
                try #require(getpgid(pid) == pid)
                // SIGKILL goes to everything that the script has started, as for a cancelled CI job; SIGTERM to the
                // script alone.
                kill(signal == SIGKILL ? -pid : pid, signal)
                job.waitUntilExit()
            }
            _ = try await eventually("the sessions' end") { try await Self.sessions(relay).isEmpty ? true : nil }
            guard signal == SIGKILL else { return }
            _ = try await eventually("the broadcasts' end") {
                let broadcasts =
                    try await relay.get("/screencapture/broadcasts")["broadcasts"] as? [RelayProcess.Object]
                return broadcasts.map { $0.allSatisfy { $0.string("state") == "idle" } } == true ? true : nil
            }
        }

        @Test("say in one line what is wrong", arguments: scripts)
        func errors(_ script: String) async throws {
            func errors(_ relay: RelayProcess?, _ arguments: String..., key: String = "") throws -> [Substring] {
                let url = "http://127.0.0.1:\(relay?.httpPort ?? 9)"
                let outcome = try Programs.run(
                    Self.examples.appendingPathComponent(script),
                    ["--output", scratch.file("screens").path] + arguments,
                    environment: ["HELIOGRAPH_RELAY": url, "HELIOGRAPH_KEY_FILE": key]
                )
                #expect(outcome.status == 1 && outcome.output == "")
                return outcome.errors.split(separator: "\n")
            }
            let lonely = try errors(nil)
            #expect(lonely.count == 1 && lonely.first?.contains("http://127.0.0.1:9") == true, "\(lonely)")
            let remote = try errors(
                nil,
                "--relay",
                "http://192.0.2.1:8420",
                key: scratch.write([0x6B], to: "open").path
            )
            #expect(remote.count == 1 && remote.first?.contains("chmod 600") == true, "\(remote)")
            let relay = try await Self.relay(state: scratch.file("state"))
            defer { relay.terminate() }
            let stranger = try errors(relay, "tv")
            #expect(
                stranger.count == 1 && stranger.first?.hasPrefix("tv: Unknown device 'tv'.") == true,
                "\(stranger)"
            )
        }
    }
}
