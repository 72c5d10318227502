import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of the native viewer: its window on a desktop of its own, which another relay sees and acts on.
    @Suite("The viewer's window")
    struct ViewerTests {
        private static let size = PictureSize(width: 1280, height: 720)

        /// A window that shows a device, and the desktop that it is on.
        private struct Window {
            let desktop: Desktop
            let process: Process
            private let output: URL

            /// Opens it in full screen, so that the whole desktop is the picture.
            ///
            /// - Parameter relay: The relay to look at.
            init(on desktop: Desktop, of relay: RelayProcess, _ arguments: [String] = []) throws {
                try desktop.stage(product: "heliograph-view")
                self.desktop = desktop
                output = desktop.directory.appendingPathComponent("view.log")
                try Data().write(to: output)
                process = desktop.process(
                    "heliograph-view",
                    ["--relay", "http://127.0.0.1:\(relay.httpPort)", "--full-screen", "--stats-json"] + arguments,
                    environment: ["SDL_AUDIODRIVER": "dummy"]
                )
                let log = try FileHandle(forWritingTo: output)
                (process.standardOutput, process.standardError) = (log, log)
                try Programs.start(process)
            }

            var said: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

            /// The luma of what the desktop shows.
            func luma() throws -> [UInt8] {
                guard try desktop.environment()["WAYLAND_DISPLAY"] == nil else {
                    return try FFmpeg.luma(ofPictureAt: desktop.screenshot(), size: size)
                }
                let path = desktop.directory.appendingPathComponent("home/window.png").path
                let grabbing = desktop.process(
                    "ffmpeg",
                    ["-v", "error", "-y", "-f", "x11grab", "-video_size", size.description, "-i", ":\(try display())"]
                        + ["-frames:v", "1", "-update", "1", path]
                )
                try Programs.start(grabbing)
                grabbing.waitUntilExit()
                return try FFmpeg.luma(ofPictureAt: path, size: size)
            }

            private func display() throws -> String { String(try desktop.environment()["DISPLAY"]?.dropFirst() ?? "") }

            /// Waits until pictures have come.
            func hasPictures() async throws {
                _ = try await eventually("pictures in the window") {
                    said.split(separator: "\n").contains {
                        $0.contains("\"pictures\":") && !$0.contains("\"pictures\":0,")
                    }
                        ? true : nil
                }
            }

            /// Waits until the window shows a counter.
            func shows(_ value: Int) async throws {
                var last: Int?
                do {
                    _ = try await eventually("the counter \(value) in the window", limit: .seconds(10)) {
                        last = Pictures.counter(luma: try luma(), size: size)
                        return last == value ? true : nil
                    }
                } catch let error as NeverCame {
                    throw NeverCame(description: "\(error.description): it shows \(String(describing: last)); \(said)")
                }
            }

            /// Ends it, and returns its exit status.
            @discardableResult
            func end() -> Int32 {
                if process.isRunning { process.terminate() }
                process.waitUntilExit()
                return process.terminationStatus
            }
        }

        @Test(
            "shows what the screen shows, says how late, and ends with its signal",
            arguments: [Desktop.Compositor.xvfb, .sway]
        )
        func shows(compositor: Desktop.Compositor) async throws {
            try await SystemTests.withBroadcast(of: try Desktop(.xvfb), source: ["kind": "screenshot"]) {
                device,
                relay in
                let desktop = try Desktop(compositor, size: Self.size.description, client: false)
                defer { desktop.end() }
                let window = try Window(on: desktop, of: relay)
                defer { window.end() }
                for _ in 0..<3 {
                    try device.pause()
                    try await window.shows(try device.shownValue())
                    try device.resume()
                }
                try device.pause()
                let value = try device.shownValue()
                try await window.shows(value)
                let screenshot = try FFmpeg.luma(ofPictureAt: device.screenshot(), size: Self.size)
                let quality = try Pictures.psnr(window.luma(), screenshot)
                #expect(quality > 35, "\(quality) dB")
                _ = try await eventually("times in the statistics") {
                    window.said.contains(#""captureToPresent":{"#) ? true : nil
                }
                #expect(window.process.isRunning && window.end() == 0, "\(window.said)")
            }
        }

        @Test("a click, keys and the wheel in the window reach the device, in its pixels; Escape held ends control")
        func acts() async throws {
            // A session that is smaller than the screen, in a window of another size.
            try await Hand.with(.xvfb, on: .xvfb, session: "small") { hand, window in
                let place = hand.device
                // Begins control, and is not sent.
                var mark = try place.mark()
                try hand.act(["click": ["x": 600, "y": 300] as RelayProcess.Object])
                try await hand.control()
                #expect(try !place.desktop.inputEvents().dropFirst(mark).contains { $0.name == "button" })
                try hand.act(["click": ["x": 415, "y": 305] as RelayProcess.Object])
                let clicked = try await place.events(after: mark, until: "a click") { events in
                    events.contains { $0.name == "button" && $0.fields.starts(with: ["272", "up"]) }
                }
                let click = try #require(clicked.first { $0.name == "button" }?.place)
                #expect(abs(click.x - 415) <= 1.5 && abs(click.y - 305) <= 1.5, "\(click)")
                mark = try place.mark()
                try hand.act(["type": "aB€"])
                try hand.act(["press": "ctrl+shift+left"])
                try hand.act(["scroll": ["x": 415, "y": 305, "dy": 240] as RelayProcess.Object])
                let typed = try await place.events(after: mark, until: "keys and the wheel") { events in
                    events.contains { $0.name == "wheel" }
                        && events.contains { $0.fields.starts(with: ["Left", "up"]) }
                }
                let keys = typed.filter { $0.name == "key" && $0.fields[1] == "down" }.map { $0.fields[0] }
                #expect(keys.contains("a") && keys.contains("B") && keys.contains("U20AC"), "\(keys)")
                // A key that is still held when control ends is released.
                let steps: [RelayProcess.Object] = [
                    ["type": "keyDown", "value": "\u{E00C}"], ["type": "pause", "duration": 1500],
                    ["type": "keyUp", "value": "\u{E00C}"],
                ]
                try hand.act(["actions": [["type": "key", "id": "keys", "actions": steps] as RelayProcess.Object]])
                try await place.eventuallyNothingIsHeld()
                _ = try await eventually("the end of control") {
                    let broadcast = try await place.relay.get("/v1/devices/default/broadcast")
                    return broadcast["controller"] is String ? nil : true
                }
                #expect(window.process.isRunning, "\(window.said)")
            }
        }

        /// A window whose desktop another relay acts on, and the device that it shows.
        private struct Hand {
            let device: InputPlace
            let desktop: Desktop
            private let relay: RelayProcess

            /// Runs `body` with the window of a device, on desktops of these kinds.
            ///
            /// - Parameter session: A session of 640x360 that the window shows; `nil` for that of all viewers.
            static func with(
                _ screen: Screen,
                on windowScreen: Screen,
                session: String? = nil,
                _ body: (Hand, Window) async throws -> Void
            ) async throws {
                try await InputPlace.with(screen) { device in
                    let desktop = try Desktop(windowScreen.compositor, size: size.description, client: false)
                    defer { desktop.end() }
                    if let session {
                        try await device.relay.put(
                            "/v1/devices/default/sessions/\(session)",
                            ["width": 640, "height": 360]
                        )
                    }
                    let window = try Window(on: desktop, of: device.relay, [session].compactMap(\.self))
                    defer { window.end() }
                    let relay = try await RelayProcess(in: desktop, arguments: ["--source", windowScreen.source])
                    defer { relay.terminate() }
                    try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 60])
                    // Places are pixels of a session.
                    try await relay.put("/v1/devices/default/sessions/whole", [:])
                    try await window.hasPictures()
                    try await body(Hand(device: device, desktop: desktop, relay: relay), window)
                }
            }

            /// Acts on the window's desktop.
            func act(_ body: RelayProcess.Object) throws {
                let answer = try desktop.callActions("POST", body, of: relay)
                guard answer.status == 200 else { throw NeverCame(description: "\(body): \(answer)") }
            }

            /// Waits until a caller controls the device.
            func control() async throws {
                _ = try await eventually("control") {
                    let broadcast = try await device.relay.get("/v1/devices/default/broadcast")
                    return broadcast["controller"] is String ? true : nil
                }
            }
        }

        @Test("a locked pointer moves the device's by as much as it moves, wherever that one is")
        func locked() async throws {
            try await Hand.with(.xvfb, on: .sway) { hand, _ in
                try hand.act(["press": "l"])
                try hand.act(["click": ["x": 600, "y": 300] as RelayProcess.Object])
                try await hand.control()
                let mark = try hand.device.mark()
                func move(x: Int, y: Int) throws {
                    let step: RelayProcess.Object = ["type": "pointerMove", "x": x, "y": y]
                    try hand.act([
                        "actions": [["type": "pointer", "id": "mouse", "actions": [step]] as RelayProcess.Object]
                    ])
                }
                func place() throws -> (x: Double, y: Double)? {
                    try hand.device.desktop.inputEvents().dropFirst(mark).last { $0.name == "motion" }?.place
                }
                // The relay knows of control before the window does.
                let first = try await eventually("a movement") {
                    try move(x: 610, y: 300)
                    try move(x: 600, y: 300)
                    return try place()
                }
                try move(x: 630, y: 320)
                let last = try await eventually("the movement's end") {
                    try place().flatMap { $0.y > first.y + 18 ? $0 : nil }
                }
                #expect(abs(last.y - first.y - 20) <= 2, "\(first) \(last)")
                #expect(abs(last.x - 630) > 5 && abs(last.y - 320) > 5, "\(last)")
            }
        }

        @Test("a finger on the window is one on the device")
        func touched() async throws {
            try await Hand.with(.mutter, on: .mutter) { hand, window in
                // Begins control, and is not sent.
                try hand.act(["tap": ["x": 600, "y": 300] as RelayProcess.Object])
                try await hand.control()
                let mark = try hand.device.mark()
                try hand.act(["swipe": ["from": [400, 300], "to": [700, 500]] as RelayProcess.Object])
                let events = try await hand.device.events(after: mark, until: "the end of a touch") { events in
                    events.contains { $0.name == "touch" && $0.fields.contains("up") }
                }
                let first = try #require(events.first { $0.name == "touch" && $0.fields.contains("down") }?.place)
                #expect(abs(first.x - 400) <= 2 && abs(first.y - 300) <= 2, "\(events)")
                let last = try #require(events.last { $0.name == "touch" && $0.fields.contains("move") }?.place)
                #expect(abs(last.x - 700) <= 2 && abs(last.y - 500) <= 2, "\(events)")
                #expect(!events.contains { $0.name == "button" }, "\(events)")
                #expect(window.process.isRunning, "\(window.said)")
            }
        }

        @Test("a wall shows all devices, and says of one that does not run why")
        func wall() async throws {
            let desktop = try Desktop(.xvfb, size: Self.size.description, client: false)
            defer { desktop.end() }
            let configuration = desktop.directory.appendingPathComponent("wall.yaml")
            let source = "source: {kind: test-pattern, width: 640, height: 360, fps: 5}"
            try "devices: {left: {\(source)}, right: {\(source)}, spare: {\(source)}}"
                .write(to: configuration, atomically: true, encoding: .utf8)
            let relay = try await RelayProcess(in: desktop, arguments: ["--config", configuration.path])
            defer { relay.terminate() }
            for device in ["left", "right"] {
                try await relay.post("/v1/devices/\(device)/broadcast/start", ["timeout": 60])
            }
            let window = try Window(on: desktop, of: relay, ["--all"])
            defer { window.end() }
            // Two columns and two rows.
            let cell = PictureSize(width: 640, height: 360)
            func counter(x: Int, y: Int) throws -> Int? {
                let luma = try window.luma()
                var part: [UInt8] = []
                for row in y..<(y + cell.height) {
                    let first = row * Self.size.width + x
                    part += luma[first..<(first + cell.width)]
                }
                return Pictures.counter(luma: part, size: cell)
            }
            for (x, y) in [(0, 0), (640, 0)] {
                var values: Set<Int> = []
                _ = try await eventually("a counter that moves at \(x),\(y)") {
                    if let value = try counter(x: x, y: y) { values.insert(value) }
                    return values.count > 1 ? true : nil
                }
            }
            #expect(try counter(x: 0, y: 360) == nil)
            #expect(window.process.isRunning && window.end() == 0, "\(window.said)")
        }

        @Test(
            "plays the device's sound on a loudspeaker of this machine, and not when muted",
            arguments: [false, true]
        )
        func sound(isMuted: Bool) async throws {
            try await SoundTests.with(["--audio", "virtual"]) { place in
                let tone = try place.play()
                defer { tone.terminate() }
                // Another sink, so that the device does not hear the viewer.
                let sink =
                    "{ factory.name=support.null-audio-sink node.name=ears media.class=Audio/Sink object.linger=true }"
                let making = place.desktop.process("pw-cli", ["create-node", "adapter", sink])
                try Programs.start(making)
                making.waitUntilExit()
                try place.desktop.stage(product: "heliograph-view")
                let viewer = place.desktop.process(
                    "heliograph-view",
                    ["--relay", "http://127.0.0.1:\(place.relay.httpPort)", "sound"] + (isMuted ? ["--mute"] : []),
                    environment: ["SDL_AUDIODRIVER": "pipewire", "SDL_VIDEODRIVER": "dummy", "PIPEWIRE_NODE": "ears"]
                )
                try Programs.start(viewer)
                defer {
                    viewer.terminate()
                    viewer.waitUntilExit()
                }
                let file = place.desktop.directory.appendingPathComponent("home/heard.wav")
                try await Task.sleep(for: .seconds(3))
                let recorder = place.desktop.process(
                    "timeout",
                    ["3", "pw-record", "-P", "{ stream.capture.sink = true }", "--target", "ears", file.path]
                )
                try Programs.start(recorder)
                recorder.waitUntilExit()
                let heard = try FFmpeg.decodeSound(of: file.path)
                let loudest = heard.map(abs).max() ?? 0
                #expect(isMuted ? loudest == 0 : loudest > 0.4, "\(heard.count) samples, up to \(loudest)")
            }
        }

        @Test("says what is missing: a relay, a session, a display")
        func faults() async throws {
            let program = Programs.product("heliograph-view")
            let nobody = try Programs.run(
                program,
                ["--relay", "http://127.0.0.1:9", "--terminal", "blocks"]
            )
            #expect(nobody.status == 69 && nobody.errors.contains("is heliograph-relay running?"), "\(nobody)")
            // An id needs no call before the session's own.
            let alone = try Programs.run(program, ["--relay", "http://127.0.0.1:9", "--terminal", "blocks", "7"])
            #expect(alone.status == 69 && alone.errors.contains("is heliograph-relay running?"), "\(alone)")
            let noDisplay = try Programs.run(
                URL(fileURLWithPath: "/usr/bin/env"),
                ["-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", program.path, "--relay", "http://127.0.0.1:9"]
            )
            #expect(noDisplay.status == 1 && noDisplay.errors.contains("--terminal blocks"), "\(noDisplay)")
            let relay = try await RelayProcess(arguments: ["--source", "test-pattern"])
            defer { relay.terminate() }
            let url = "http://127.0.0.1:\(relay.httpPort)"
            try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 60])
            let noSession = try Programs.run(program, ["--relay", url, "--terminal", "blocks", "door"])
            #expect(noSession.status == 1 && noSession.errors.contains("heliograph session start door"), "\(noSession)")
        }
    }
}
