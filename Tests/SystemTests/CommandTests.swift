import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    @Suite("Commands")
    struct CommandTests {
        private static let programs = ["--programs", Programs.products.path]

        /// Runs `heliograph` against `relay`, or against a port where nothing listens.
        private func heliograph(_ relay: RelayProcess?, _ arguments: String...) throws -> Programs.Outcome {
            let url = "http://127.0.0.1:\(relay?.httpPort ?? 9)"
            return try Programs.run(Programs.product("heliograph"), arguments, environment: ["HELIOGRAPH_RELAY": url])
        }

        @Test("the demo's check decodes what it received and compares it with the screen")
        func demoCheck() throws {
            let outcome = try Programs.run(Programs.script("demo"), ["--check"] + Self.programs)
            let figures = try #require(
                try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? RelayProcess.Object,
                "the demo says: \(outcome.errors)"
            )
            // Scripts/verify checks the frame rate, on an idle machine.
            #expect(figures.string("decoder") == "")
            #expect(figures.integer("unreadable") == 0)
            #expect(figures.integer("backwards") == 0)
            #expect(figures.integer("unordered") == 0)
            #expect(figures.integer("stillLumaPsnr") >= 35)
            #expect(figures.integer("picturesPerSecond") > 0)
            #expect((outcome.status == 0) == (figures["ok"] as? Bool))
        }

        @Test("the README's walk-through prints what the README says")
        func walkthrough() throws {
            let outcome = try Programs.run(Programs.script("walkthrough"), ["--check"] + Self.programs)
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        }

        @Test("docs/reference/command-line.md has the programs' help; Scripts/command-reference writes it")
        func commandReference() throws {
            let outcome = try Programs.run(Programs.script("command-reference"), ["--check"] + Self.programs)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }

        @Test("the manual pages have exit statuses, variables, files and examples")
        func manualPages() throws {
            let folder = NSTemporaryDirectory() + "heliograph-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let outcome = try Programs.run(Programs.script("manuals"), ["--output", folder] + Self.programs)
            #expect(outcome.status == 0, "\(outcome.errors)")
            for name in ["heliograph.1", "heliograph-relay.1", "capture-agent.1", "relay.yaml.5"] {
                let page = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
                let sections = name.hasSuffix(".1") ? ["EXIT STATUS", "ENVIRONMENT"] : ["SETTINGS", "DEVICES"]
                for section in sections + ["FILES", "EXAMPLES", "SEE ALSO"] {
                    #expect(page.contains("\n.SH \(section)\n"), "\(name): \(section)")
                }
            }
        }

        @Test("the documented exit statuses are those that the code names", arguments: ExitStatuses.all)
        func exitStatuses(statuses: ExitStatuses) throws {
            #expect(try statuses.documented() == statuses.named())
        }

        @Test("wrong arguments end each program with 64", arguments: ExitStatuses.all)
        func wrongArguments(statuses: ExitStatuses) throws {
            #expect(try Programs.run(Programs.product(statuses.program), ["--no-such-option"]).status == 64)
        }

        @Test("heliograph starts, shows, watches and stops a broadcast")
        func heliographCommand() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let started = try heliograph(relay, "start")
            #expect(started.status == 0 && started.output.contains("live"))
            let file = NSTemporaryDirectory() + "heliograph-\(UUID().uuidString).h264"
            defer { try? FileManager.default.removeItem(atPath: file) }
            let watched = try heliograph(relay, "watch", "new", "--output", file, "--duration", "2")
            #expect(watched.status == 0, "\(watched.errors)")
            let size = PictureSize(width: 1280, height: 720)
            let stream = try Data(contentsOf: URL(fileURLWithPath: file))
            let pictures = try FFmpeg.decodeLuma(h264: stream, size: size)
            #expect(pictures.count > 10)
            #expect(pictures.allSatisfy { Pictures.counter(luma: $0, size: size) != nil })
            let sessions = try await relay.get("/screencapture")["sessions"] as? [RelayProcess.Object]
            #expect(sessions?.isEmpty == true, "a session of its own ends with the watching")
            #expect(try heliograph(relay, "status").output.contains("live"))
            #expect(try heliograph(relay, "stop").status == 0)
            #expect(try heliograph(relay, "watch", "17", "--output", file).status == 1)
        }

        @Test("the output of heliograph watch ends after a whole picture, wherever the stream stops")
        func wholePictures() async throws {
            let relay = try await RelayProcess(arguments: ["--fallback", "none", "--session-port-base", "0"])
            defer { relay.terminate() }
            try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            let session = try await relay.startSession(["bitrate": 8_000_000])
            let file = NSTemporaryDirectory() + "heliograph-\(UUID().uuidString).h264"
            defer { try? FileManager.default.removeItem(atPath: file) }
            for limit in [600_000, 605_000, 610_000] {
                let strait = try Strait(to: relay.httpPort, limit: limit)
                defer { strait.end() }
                let watched = try Programs.run(
                    Programs.product("heliograph"),
                    ["watch", "\(session.integer("id"))", "--output", file, "--duration", "3"],
                    environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(strait.port)"]
                )
                #expect(watched.status == 0, "\(watched.errors)")
                let stream = try Data(contentsOf: URL(fileURLWithPath: file))
                #expect(stream.count > 300_000 && stream.count < limit)
                #expect(try FFmpeg.pictureCount(stream, codec: .h264) > 1)
            }
        }

        @Test("heliograph watch ends when it is asked to, though nobody takes what it writes")
        func stuckOutput() async throws {
            let relay = try await RelayProcess(arguments: ["--fallback", "none", "--session-port-base", "0"])
            defer { relay.terminate() }
            try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            let process = Process()
            process.executableURL = Programs.product("heliograph")
            process.arguments = ["watch", "--relay", "http://127.0.0.1:\(relay.httpPort)", "--output", "-"]
            let output = Pipe()
            process.standardOutput = output
            process.standardInput = FileHandle.nullDevice
            try Programs.start(process)
            defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
            _ = try await eventually("more than the pipe holds") { () -> Bool? in
                let sessions = try await relay.get("/screencapture")["sessions"] as? [RelayProcess.Object]
                guard let id = sessions?.first?.integer("id") else { return nil }
                let counters = try await relay.get("/screencapture/\(id)").object("counters").object("relay")
                return counters.integer("bytesOut") > 300_000 ? true : nil
            }
            process.terminate()
            _ = try await eventually("its end") { process.isRunning ? nil : true }
            #expect(process.terminationStatus == 0)
            let sessions = try await relay.get("/screencapture")["sessions"] as? [RelayProcess.Object]
            #expect(sessions?.isEmpty == true, "a session of its own ends with the watching")
        }

        @Test("heliograph says in one line that there is no relay")
        func noRelay() throws {
            let outcome = try heliograph(nil, "status")
            #expect(outcome.status == 69)
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(outcome.errors.contains("heliograph-relay"))
        }

        @Test("a port that is taken is named, in one line")
        func portTaken() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let second = try Programs.run(
                Programs.product("heliograph-relay"),
                ["--http", "127.0.0.1:\(relay.httpPort)", "--agent-link", "127.0.0.1:0"]
            )
            #expect(second.status == 69)
            #expect(second.errors.contains("\(relay.httpPort)"))
        }
    }
}
