import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of a desktop's sound, from a program that plays it to a decoder.
    @Suite("Sound of a desktop")
    struct SoundTests {
        /// A relay whose device captures sound and shows the test pattern.
        struct Place {
            let desktop: Desktop
            let relay: RelayProcess

            func audio() async throws -> RelayProcess.Object {
                try await relay.get("/v1/devices/default/broadcast").object("audio")
            }

            /// Downloads a stream of the session `sound` for some seconds, while `body` runs.
            func download(_ path: String, seconds: Double, while body: () async throws -> Void) async throws -> URL {
                let file = desktop.directory.appendingPathComponent("home/\(UUID().uuidString)")
                let curl = desktop.process(
                    "curl",
                    ["--silent", "--output", file.path, "--max-time", "\(seconds)"]
                        + ["http://127.0.0.1:\(relay.httpPort)/v1/devices/default/sessions/sound/\(path)"]
                )
                try Programs.start(curl)
                try await body()
                curl.waitUntilExit()
                return file
            }

            /// Starts to play a sine of 1 kHz at half of full scale. It goes on until the process is ended.
            func play(target: String? = nil) throws -> Process {
                let file = desktop.directory.appendingPathComponent("home/tone.wav")
                if !FileManager.default.fileExists(atPath: file.path) {
                    // ffmpeg's sine has an eighth of full scale.
                    _ = try Tool.run(
                        "/usr/bin/ffmpeg",
                        ["-v", "error", "-f", "lavfi", "-i", "sine=frequency=1000:sample_rate=48000:duration=60"]
                            + ["-af", "volume=4", "-ac", "2", "-c:a", "pcm_f32le", file.path]
                    )
                }
                let process = desktop.process("pw-play", (target.map { ["--target", $0] } ?? []) + [file.path])
                try Programs.start(process)
                return process
            }
        }

        static func with(
            _ arguments: [String],
            fallback: String = "none",
            environment: [String: String] = [:],
            prepare: (Desktop) throws -> Void = { _ in },
            _ body: (Place) async throws -> Void
        ) async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            try prepare(desktop)
            let relay = try await RelayProcess(
                in: desktop,
                arguments: arguments,
                fallback: fallback,
                environment: environment
            )
            defer { relay.terminate() }
            try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            try await relay.put(
                "/v1/devices/default/sessions/sound",
                ["width": 320, "height": 240, "fps": 30, "keyframeInterval": 1]
            )
            try await body(Place(desktop: desktop, relay: relay))
        }

        // MARK: - What was heard

        /// Decoded sound, mixed to one channel.
        private struct Heard {
            var samples: [Float]

            /// The levels of the parts between the first and the last loud one that are not as loud as the tone, by the
            /// parts' numbers, and how many parts there are.
            var quietParts: (parts: [Int: Double], count: Int) {
                let levels = parts.map(\.level)
                guard let first = levels.firstIndex(where: { $0 > 0.3 }),
                    let last = levels.lastIndex(where: { $0 > 0.3 })
                else { return ([:], 0) }
                let quiet = (first...last).filter { levels[$0] <= 0.3 }
                return (Dictionary(uniqueKeysWithValues: quiet.map { ($0, levels[$0]) }), last - first + 1)
            }

            /// Splits it into parts of 20 ms, and returns each part's level and its error from the best sine of 1 kHz.
            var parts: [(level: Double, noise: Double)] {
                stride(from: 0, through: samples.count - 960, by: 960).map { start in
                    let part = samples[start..<(start + 960)].map(Double.init)
                    // 20 whole periods, so the projections are orthogonal.
                    let angle = { (index: Int) in 2 * Double.pi * 1000 * Double(index) / 48_000 }
                    let sine = part.indices.reduce(0) { $0 + part[$1] * sin(angle($1)) } / 480
                    let cosine = part.indices.reduce(0) { $0 + part[$1] * cos(angle($1)) } / 480
                    let error = part.indices.reduce(0) {
                        let rest = part[$1] - sine * sin(angle($1)) - cosine * cos(angle($1))
                        return $0 + rest * rest
                    }
                    let power = part.reduce(0) { $0 + $1 * $1 }
                    return ((power / 960).squareRoot(), (error / 960).squareRoot())
                }
            }
        }

        private static func heard(in file: URL) throws -> Heard {
            let samples = try FFmpeg.decodeSound(of: file.path)
            return Heard(samples: samples)
        }

        /// The times between the packets of a file's sound, in µs, as ffprobe reads them.
        private static func packetTimes(_ file: URL) throws -> [Double] {
            try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "error", "-select_streams", "a:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0"]
                    + [file.path]
            ).split(whereSeparator: \.isNewline).compactMap { Double($0.split(separator: ",")[0]) }
        }

        /// Returns whether the times between packets leave no hole. A packet of silence may not fit before sound.
        ///
        /// - Parameter packet: The duration of a packet, s.
        private static func areFilled(_ steps: [Double], packet: Double) -> Bool {
            steps.allSatisfy { $0 > packet / 2 - 1e-4 && $0 < 2 * packet + 1e-4 }
                && steps.count { $0 > packet + 1e-4 } <= 2
        }

        /// Returns the duration of a packet in a stream, s.
        private static func packet(in stream: String) -> Double { stream.contains("aac") ? 1024 / 48_000 : 0.02 }

        // MARK: - Tests

        @Test(
            "a tone arrives whole between silences, and nothing is captured before and after",
            arguments: ["mp4", "ogg", "aac", "mp4?audio=aac", "ts?audio=aac"]
        )
        func tone(stream: String) async throws {
            try await Self.with(["--audio", "virtual"]) { place in
                let before = try await place.audio()
                #expect(before["agent"] is NSNull && before["problem"] is NSNull, "\(before)")
                #expect(try !place.desktop.nodes().contains("heliograph-audio"))
                let file = try await place.download("stream.\(stream)", seconds: 6) {
                    _ = try await eventually("a listener") {
                        try await place.audio().string("agent") == "primary" ? true : nil
                    }
                    try await Task.sleep(for: .seconds(1.5))
                    let player = try place.play()
                    try await Task.sleep(for: .seconds(2))
                    player.terminate()
                    player.waitUntilExit()
                }
                let parts = try Self.heard(in: file).parts
                let loud = parts.indices.filter { parts[$0].level > 0.3 }
                let (first, last) = (try #require(loud.first), try #require(loud.last))
                // Without a hole, and clean at 128 kbit/s: 40 dB, in AAC 30. On a busy machine the player itself may be
                // late once.
                let clean = stream.contains("aac") ? 30.0 : 100
                let faulty = (first...last).filter {
                    parts[$0].noise >= parts[$0].level / clean || abs(parts[$0].level - 0.3536) > 0.01
                }
                #expect(
                    last - first > 60 && faulty.count <= 4,
                    "\(faulty.map { ($0, parts[$0]) }) of \(first) to \(last)"
                )
                // Before and after it is digital silence.
                #expect(first > 40 && parts[..<(first - 2)].allSatisfy { $0.level < 1e-4 })
                #expect(parts.count > last + 40 && parts[(last + 4)...].allSatisfy { $0.level < 1e-4 })
                // The packets' times have neither holes nor overlaps: silence is filled.
                let times = try Self.packetTimes(file)
                let steps = zip(times, times.dropFirst()).map { $1 - $0 }
                #expect(steps.count > 200 && Self.areFilled(steps, packet: Self.packet(in: stream)), "\(steps)")
                try FFmpeg.decodeSoundQuietly(of: file.path)
                _ = try await eventually("the end of the capture") {
                    try await place.audio()["agent"] is NSNull ? true : nil
                }
                _ = try await eventually("no capture") {
                    try place.desktop.nodes().contains("heliograph-audio") ? nil : true
                }
            }
        }

        @Test("without libavcodec AAC is refused, which says why, and Opus goes on")
        func noLibrary() async throws {
            let scratch = try Scratch()
            let majors = ["59", "60", "61", "62"]
            for major in majors { _ = try scratch.write([UInt8](), to: "libavcodec.so.\(major)") }
            let folder = scratch.file("libavcodec.so.59").deletingLastPathComponent()
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
            try await Self.with(["--audio", "virtual"], environment: ["LD_LIBRARY_PATH": folder.path]) { place in
                let answer = try await place.download("stream.aac", seconds: 3) {}
                let text = try String(contentsOf: answer, encoding: .utf8)
                #expect(text.contains("no_aac") && text.contains("libavcodec cannot be loaded"), "\(text)")
                let sound = try await place.download("stream.ogg", seconds: 2) {}
                #expect(try Self.heard(in: sound).parts.count > 50)
                let problem = try await place.audio().string("aacProblem") ?? ""
                #expect(problem.contains("libavcodec"))
            }
        }

        @Test("a desktop without a sink says so, and what to do")
        func noSink() async throws {
            try await Self.with(["--audio", "desktop"]) { place in
                let file = try await place.download("stream.mp4", seconds: 6) {
                    _ = try await eventually("the reason") {
                        try await place.audio().string("problem")?.contains("audio: virtual") == true ? true : nil
                    }
                }
                // The track is declared, and silent.
                let parts = try Self.heard(in: file).parts
                #expect(parts.count > 200 && parts.allSatisfy { $0.level == 0 })
            }
        }

        @Test("the named sink is heard and no other, and one that is missing is looked for")
        func namedSink() async throws {
            try await Self.with(["--audio", "sink:second"], prepare: { try $0.makeSink("first") }) { place in
                let file = try await place.download("stream.ts", seconds: 8) {
                    _ = try await eventually("the reason") {
                        let problem = try await place.audio().string("problem") ?? ""
                        return problem.contains("no sink:second") && problem.contains("first") ? true : nil
                    }
                    try place.desktop.makeSink("second")
                    _ = try await eventually("the sink") { try await place.audio()["problem"] is NSNull ? true : nil }
                    let other = try place.play(target: "first")
                    try await Task.sleep(for: .seconds(1))
                    let player = try place.play(target: "second")
                    try await Task.sleep(for: .seconds(1))
                    for process in [player, other] {
                        process.terminate()
                        process.waitUntilExit()
                    }
                }
                let loud = try Self.heard(in: file).parts.count { $0.level > 0.3 }
                #expect((20...150).contains(loud), "\(loud)")
            }
        }

        @Test("a caller waits for sound and for silence, and measures the level")
        func waits() async throws {
            try await Self.with(["--audio", "virtual"]) { place in
                let path = "/v1/devices/default/sessions/sound"
                let before = try await place.relay.get("\(path)/audio/level?for=0.3")
                #expect(before["level"] is NSNull && before["loudest"] is NSNull, "\(before)")
                async let heard = place.relay.get("\(path)/wait?until=sound&for=0.5&timeout=20&threshold=-30")
                _ = try await eventually("the capture") { try await place.audio()["agent"] is NSNull ? nil : true }
                let player = try place.play()
                let sound = try await heard
                #expect(sound.string("outcome") == "happened", "\(sound)")
                let tone = try await place.relay.get("\(path)/audio/level?for=0.5")
                // A sine at half of full scale, whose two channels are 3 dB below that.
                let level = tone["level"] as? Double ?? 0
                #expect(abs(level - 20 * log10(0.25)) < 0.3, "\(tone)")
                let none = try await place.relay.get("\(path)/wait?until=silence&for=0.2&timeout=1")
                #expect(none.string("outcome") == "timeout", "\(none)")
                async let ended = place.relay.get("\(path)/wait?until=silence&for=1&timeout=20")
                try await Task.sleep(for: .seconds(0.5))
                player.terminate()
                player.waitUntilExit()
                let silence = try await ended
                #expect(silence.string("outcome") == "happened", "\(silence)")
                #expect((silence["pts"] as? Int ?? 0) > (sound["pts"] as? Int ?? .max), "\(silence)")
                _ = try await eventually("the end of the capture") {
                    try await place.audio()["agent"] is NSNull ? true : nil
                }
            }
        }

        @Test("a listener who comes back at once hears the sound each time")
        func listenersInTurn() async throws {
            try await Self.with(["--audio", "virtual"]) { place in
                let player = try place.play()
                defer {
                    player.terminate()
                    player.waitUntilExit()
                }
                for turn in 1...12 {
                    let file = try await place.download("stream.ogg", seconds: 1.5) {}
                    let loud = try Self.heard(in: file).parts.count { $0.level > 0.3 }
                    #expect(loud > 15, "turn \(turn): \(loud)")
                }
            }
        }

        @Test("the command writes the sound alone, as long as asked, to a file and a pipe")
        func command() async throws {
            try await Self.with(["--audio", "virtual"]) { place in
                let player = try place.play()
                defer {
                    player.terminate()
                    player.waitUntilExit()
                }
                let file = place.desktop.directory.appendingPathComponent("home/sound.ogg")
                let relay = "http://127.0.0.1:\(place.relay.httpPort)"
                let arguments = ["watch", "sound", "--duration", "2", "--output"]
                let said = try await inThread {
                    try Programs.run(
                        Programs.product("heliograph"),
                        arguments + [file.path],
                        environment: ["HELIOGRAPH_RELAY": relay]
                    )
                }
                #expect(said.status == 0, "\(said)")
                let parts = try Self.heard(in: file).parts
                #expect((99...101).contains(parts.count) && parts.count { $0.level > 0.3 } > 50, "\(parts.count)")
                let piped = try await inThread {
                    try Programs.run(
                        Programs.product("heliograph"),
                        arguments + ["-", "--audio-only"],
                        environment: ["HELIOGRAPH_RELAY": relay]
                    )
                }
                #expect(piped.status == 0 && piped.output.hasPrefix("OggS"), "\(piped.errors)")
                for (name, more) in [("sound.aac", []), ("sound.mp4", ["--audio-codec", "aac"])] {
                    let file = place.desktop.directory.appendingPathComponent("home/\(name)")
                    let said = try await inThread {
                        try Programs.run(
                            Programs.product("heliograph"),
                            arguments + [file.path] + more,
                            environment: ["HELIOGRAPH_RELAY": relay]
                        )
                    }
                    #expect(said.status == 0, "\(said)")
                    let parts = try Self.heard(in: file).parts
                    let loud = parts.count { $0.level > 0.3 }
                    #expect((92...102).contains(parts.count) && loud > 40, "\(name): \(loud) of \(parts.count)")
                }
            }
        }

        @Test("what a caller says is recorded by a program of the desktop, whole and clean, as long as it speaks")
        func speech() async throws {
            try await Self.with(["--microphone"], prepare: { try $0.stageCommand() }) { place in
                func microphone() async throws -> RelayProcess.Object {
                    try await place.relay.get("/v1/devices/default/broadcast").object("microphone")
                }
                _ = try await eventually("the microphone") {
                    try await microphone()["available"] as? Bool == true ? true : nil
                }
                let home = place.desktop.directory.appendingPathComponent("home")
                let (tone, file) = (
                    home.appendingPathComponent("said.wav"), home.appendingPathComponent("recorded.wav")
                )
                _ = try Tool.run(
                    "/usr/bin/ffmpeg",
                    ["-v", "error", "-f", "lavfi", "-i", "sine=frequency=1000:sample_rate=48000:duration=3"]
                        + ["-af", "volume=4", "-ac", "1", tone.path]
                )
                let recorder = place.desktop.process(
                    "pw-record",
                    ["--target", "heliograph-microphone-default", "--channels", "1", file.path]
                )
                try Programs.start(recorder)
                try await Task.sleep(for: .seconds(1))
                let speaker = place.desktop.process(
                    "heliograph",
                    ["talk", tone.path, "--session", "sound"],
                    environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(place.relay.httpPort)"]
                )
                try Programs.start(speaker)
                _ = try await eventually("the speaker") {
                    try await microphone().string("speaker") == "local" ? true : nil
                }
                speaker.waitUntilExit()
                #expect(speaker.terminationStatus == 0)
                _ = try await eventually("the end") { try await microphone()["speaker"] is NSNull ? true : nil }
                try await Task.sleep(for: .seconds(0.5))
                recorder.interrupt()
                recorder.waitUntilExit()
                let parts = try Self.heard(in: file).parts
                let loud = parts.indices.filter { parts[$0].level > 0.3 }
                let (first, last) = (try #require(loud.first), try #require(loud.last))
                #expect((145...151).contains(last - first), "\(first) to \(last) of \(parts.count)")
                // 20 dB. On a busy machine a packet may come late once.
                let faulty = ((first + 1)..<last).filter { parts[$0].noise >= parts[$0].level / 10 }
                #expect(faulty.count <= 4, "\(faulty.map { ($0, parts[$0]) })")
                #expect(parts[..<(first - 1)].allSatisfy { $0.level < 1e-4 })
                #expect(parts[(last + 2)...].allSatisfy { $0.level < 1e-4 })
            }
        }

        @Test("no sample is missing when agents are killed", arguments: ["ts", "ts?audio=aac"])
        func killed(stream: String) async throws {
            try await Self.with(
                ["--audio", "sink:kept"],
                fallback: "test-pattern",
                prepare: { try $0.makeSink("kept") }
            ) { place in
                let rounds = Effort.choose(2, whole: 20)
                let seconds = 5 + 4.5 * Double(rounds)
                // On a busy machine the player itself may be late. A recorder beside the agents hears that too.
                let reference = place.desktop.directory.appendingPathComponent("home/reference.wav")
                let recorder = place.desktop.process(
                    "pw-record",
                    ["--properties", "{ stream.capture.sink = true }", "--target", "kept", reference.path]
                )
                try Programs.start(recorder)
                let file = try await place.download("stream.\(stream)", seconds: seconds) {
                    let player = try place.play(target: "kept")
                    defer {
                        for process in [player, recorder] {
                            process.interrupt()
                            process.waitUntilExit()
                        }
                    }
                    for round in 1...rounds {
                        _ = try await eventually("both agents' captures") {
                            try await place.audio()["capturing"] as? [String] == ["primary", "standby"] ? true : nil
                        }
                        // The other agent keeps the last second.
                        try await Task.sleep(for: .seconds(1.2))
                        let role = try await place.audio().string("agent") ?? ""
                        let broadcast = try await place.relay.get("/v1/devices/default/broadcast")
                        let agent =
                            role == "primary" ? broadcast.object("agent") : broadcast.object("standby").object("agent")
                        try Victim.signal(Int32(agent.integer("pid")), SIGKILL)
                        _ = try await eventually("another agent's sound") {
                            try await place.audio().integer("switches") == round ? true : nil
                        }
                    }
                    try await Task.sleep(for: .seconds(1))
                }
                let times = try Self.packetTimes(file)
                // An agent that began without the samples before would lose a part at each switch.
                let (quiet, count) = try Self.heard(in: file).quietParts
                let (quietBeside, _) = try Self.heard(in: reference).quietParts
                #expect(quiet.count < quietBeside.count + rounds, "\(quiet) of \(count), beside it \(quietBeside)")
                #expect(count > 50 * rounds)
                let steps = zip(times, times.dropFirst()).map { $1 - $0 }
                #expect(Self.areFilled(steps, packet: Self.packet(in: stream)), "\(steps)")
            }
        }

        @Test("sound survives a restart of PipeWire")
        func restart() async throws {
            try await Self.with(["--audio", "virtual"]) { place in
                let file = try await place.download("stream.ts", seconds: 12) {
                    let player = try place.play()
                    try await Task.sleep(for: .seconds(2))
                    player.terminate()
                    player.waitUntilExit()
                    try place.desktop.restart("pipewire", "wireplumber")
                    _ = try await eventually("the sink again") {
                        try place.desktop.nodes().contains("heliograph-default") ? true : nil
                    }
                    let again = try place.play()
                    try await Task.sleep(for: .seconds(2))
                    again.terminate()
                    again.waitUntilExit()
                }
                let parts = try Self.heard(in: file).parts
                let loud = parts.indices.filter { parts[$0].level > 0.3 }
                let (first, last) = (try #require(loud.first), try #require(loud.last))
                // Two stretches of sound, with a silence between them, in which PipeWire was away.
                let silent = (first...last).filter { parts[$0].level < 0.01 }
                #expect(loud.count > 120 && silent.count > 1, "\(loud.count) of \(first) to \(last), silent \(silent)")
            }
        }
    }
}

extension Desktop {
    /// The names of PipeWire's nodes.
    fileprivate func nodes() throws -> [String] {
        let process = process("pw-dump", [])
        let output = Pipe()
        process.standardOutput = output
        try Programs.start(process)
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let objects = try JSONSerialization.jsonObject(with: data) as? [[String: Any]] ?? []
        return objects.compactMap { object in
            let info = object["info"] as? [String: Any]
            return (info?["props"] as? [String: Any])?["node.name"] as? String
        }
    }

    /// Makes a sink without hardware that outlives the process that makes it.
    fileprivate func makeSink(_ name: String) throws {
        let process = process(
            "pw-cli",
            [
                "create-node", "adapter",
                "{ factory.name=support.null-audio-sink node.name=\(name) media.class=Audio/Sink "
                    + "object.linger=true audio.position=[FL FR] }",
            ]
        )
        try Programs.start(process)
        process.waitUntilExit()
    }
}
