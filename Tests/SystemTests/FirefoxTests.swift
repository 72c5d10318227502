import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "The web page in Firefox",
        .enabled(if: Firefox.isInstalled, "firefox-esr is installed by Scripts/packages desktop")
    )
    struct FirefoxTests {
        /// A way to play, as the page's address and its figures name it.
        enum Way: String, CaseIterable, Sendable {
            case webCodecs = "webcodecs"
            case fragments = "mse"

            var name: String {
                switch self {
                case .webCodecs: "WebCodecs"
                case .fragments: "Media Source Extensions"
                }
            }
        }

        private static let source: RelayProcess.Object = [
            "kind": "test-pattern", "width": 640, "height": 360, "fps": 30,
        ]

        private static func withBroadcast(_ body: (RelayProcess) async throws -> Void) async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in try await body(relay) }
        }

        /// Shows a session and its figures, and waits until it plays.
        private static func show(_ session: Int, of relay: RelayProcess, by way: String?, in browser: Firefox) throws {
            let query = way.map { "?player=\($0)" } ?? ""
            try browser.open("http://127.0.0.1:\(relay.httpPort)/\(query)#/session/\(session)")
            try browser.wait(until: "document.querySelector('.message')?.hidden")
            _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'i' }))")
        }

        @Test(
            "plays every picture once, without decoder errors, through a change of size and a busy page",
            arguments: Way.allCases
        )
        func plays(by way: Way) async throws {
            try await Self.withBroadcast { relay in
                let session = try await relay.startSession(["fps": 30]).integer("id")
                let browser = try Firefox()
                defer { browser.end() }
                try Self.show(session, of: relay, by: way.rawValue, in: browser)
                try browser.wait(until: "\(PageTests.figure("Presented")) > '2'")
                #expect(try browser.evaluate(PageTests.figure("Player")) as? String == way.name)
                try PageTests.expectMoving(browser)

                try await relay.patch("/screencapture/\(session)", ["width": 320, "height": 180])
                try browser.wait(until: "\(PageTests.figure("Size")) === '320 × 180'")
                try PageTests.expectMoving(browser, seconds: 2)
                #expect(try browser.evaluate(PageTests.figure("Dropped")) as? String == "0 by the relay, 0 here")

                // A page that was busy for a while catches up.
                _ = try browser.evaluate("{ const end = Date.now() + 3000; while (Date.now() < end) {} }")
                let caughtUp = try browser.evaluate(
                    """
                    new Promise((done) => {
                      const canvas = document.querySelector("canvas.picture");
                      canvas.addEventListener("presented", ({ detail }) => detail.latency < 500 && done(true));
                    })
                    """,
                    seconds: 10
                )
                #expect(caughtUp as? Bool == true)
                #expect(browser.complaints == [])
            }
        }

        @Test("takes WebCodecs for H.264, and media source extensions for H.265, which WebCodecs cannot decode")
        func choice() async throws {
            try await Self.withBroadcast { relay in
                let browser = try Firefox()
                defer { browser.end() }
                for (codec, way) in [("h264", Way.webCodecs), ("h265", .fragments)] {
                    let session = try await relay.startSession(["codec": codec, "fps": 30]).integer("id")
                    // Another address, so that the page begins anew.
                    try browser.open("about:blank")
                    try Self.show(session, of: relay, by: nil, in: browser)
                    #expect(try browser.evaluate(PageTests.figure("Player")) as? String == way.name)
                    try browser.wait(until: "parseFloat(\(PageTests.figure("Presented"))) > 10")
                    #expect(try browser.evaluate(PageTests.figure("Decoder errors")) as? String == "0")
                    try await relay.post("/screencapture/\(session)/stop")
                }
                #expect(browser.complaints == [])
            }
        }

        @Test("says plainly that it can play H.265 in no way that was asked for")
        func nothingPlays() async throws {
            try await Self.withBroadcast { relay in
                let session = try await relay.startSession(["codec": "h265"]).integer("id")
                let browser = try Firefox()
                defer { browser.end() }
                try browser.open("http://127.0.0.1:\(relay.httpPort)/?player=webcodecs#/session/\(session)")
                try browser.wait(until: "document.querySelector('.message')?.textContent.includes('cannot show H.265')")
                #expect(browser.complaints == [])
            }
        }

        @Test("saves the picture that is shown, by each way to play", arguments: ["webcodecs", "mse", "mjpeg"])
        func snapshots(way: String) async throws {
            try await Self.withBroadcast { relay in
                let session = try await relay.startSession(["fps": 30]).integer("id")
                let browser = try Firefox()
                defer { browser.end() }
                try browser.beforePages(
                    run: """
                        globalThis.saved = [];
                        const make = URL.createObjectURL;
                        URL.createObjectURL = (object) => {
                          if (object instanceof Blob) saved.push(object);
                          return make.call(URL, object);
                        };
                        """
                )
                try Self.show(session, of: relay, by: way, in: browser)
                var values: [Int] = []
                for _ in 0..<2 {
                    let value = try browser.evaluate(
                        """
                        (async () => {
                          saved.length = 0;
                          document.dispatchEvent(new KeyboardEvent("keydown", { key: "s" }));
                          while (saved.length === 0) await new Promise((done) => setTimeout(done, 20));
                          const bitmap = await createImageBitmap(saved[0]);
                          const canvas = document.createElement("canvas");
                          Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
                          const context = canvas.getContext("2d");
                          context.drawImage(bitmap, 0, 0);
                          return \(PageCounter.value);
                        })()
                        """,
                        seconds: 10
                    )
                    values.append(try #require(value as? Int))
                    try await Task.sleep(for: .seconds(1))
                }
                #expect(values[0] >= 0, "it shows a whole counter")
                #expect(values[1] > values[0] + 20, "\(values): the second picture is a second younger")
                _ = try browser.evaluate("location.hash = '#/'")
                _ = try await eventually("the end of the pictures") {
                    try await relay.get("/screencapture/\(session)").integer("viewers") == 0 ? true : nil
                }
                #expect(browser.complaints == [])
            }
        }

        @Test("goes on after the relay was restarted")
        func restart() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            defer { desktop.end() }
            let state = ["--state-file", desktop.directory.appendingPathComponent("run/relay.json").path]
            let first = try await RelayProcess(in: desktop, arguments: state)
            defer { first.kill() }
            try await first.post("/screencapture/broadcast/start", ["source": Self.source])
            let session = try await first.startSession(["fps": 30]).integer("id")
            let browser = try Firefox()
            defer { browser.end() }
            try Self.show(session, of: first, by: nil, in: browser)
            first.terminate()
            try browser.wait(
                until: "document.querySelector('.stage .badge:not([hidden])')?.textContent === 'Not connected'"
            )
            let ports = ["--http", "127.0.0.1:\(first.httpPort)", "--agent-link", "127.0.0.1:\(first.agentPort)"]
            let second = try await RelayProcess(in: desktop, arguments: state + ports)
            defer { second.terminate() }
            try browser.wait(until: "document.querySelector('.message').hidden")
            try browser.wait(until: "document.querySelector('.stage .badge').hidden")
            try PageTests.expectMoving(browser, seconds: 2)
        }

        // MARK: - Sound

        /// Runs `body` with a listening page that plays into nothing. Firefox has no sound without an output.
        private static func listening(
            by way: Way,
            _ body: (SoundTests.Place, Firefox) async throws -> Void
        ) async throws {
            try await SoundTests.with(["--audio", "virtual"]) { place in
                let output = try await Output(in: place.desktop)
                defer { output.end() }
                let session = try await place.relay.get("/v1/devices/default/sessions/sound").integer("id")
                let browser = try Firefox(environment: output.environment)
                defer { browser.end() }
                try browser.beforePages(
                    run: """
                        // Firefox may never return from the real one.
                        globalThis.latencyAsked = 0;
                        Object.defineProperty(AudioContext.prototype, "outputLatency", {
                          get() {
                            latencyAsked += 1;
                            return 0;
                          },
                        });
                        const make = document.createElement.bind(document);
                        document.createElement = (name, ...rest) => {
                          const made = make(name, ...rest);
                          if (name === "video") globalThis.lastVideo = made;
                          return made;
                        };
                        """
                )
                try show(session, of: place.relay, by: way.rawValue, in: browser)
                try browser.wait(until: "document.querySelector('.sound button').checkVisibility()")
                let player = try place.play()
                defer {
                    player.terminate()
                    player.waitUntilExit()
                }
                try SoundPageTests.press(browser)
                try browser.wait(until: "\(SoundPageTests.isPressed) === 'true'")
                try await body(place, browser)
                try SoundPageTests.press(browser)
                try browser.wait(until: "\(SoundPageTests.isPressed) === 'false'")
                #expect(try browser.evaluate("latencyAsked") as? Int == 0)
                #expect(browser.complaints == [])
            }
        }

        /// An output of sound that nobody hears, besides the one that the agent captures.
        private struct Output {
            let environment: [String: String]
            private let server: Process

            init(in desktop: Desktop) async throws {
                let socket = desktop.directory.appendingPathComponent("run/pulse").path
                let file = desktop.directory.appendingPathComponent("home/pulse.conf")
                let configuration = """
                    context.spa-libs = {
                      audio.convert.* = audioconvert/libspa-audioconvert
                      support.* = support/libspa-support
                    }
                    context.modules = [
                      { name = libpipewire-module-rt flags = [ nofail ] }
                      { name = libpipewire-module-protocol-native }
                      { name = libpipewire-module-client-node }
                      { name = libpipewire-module-adapter }
                      { name = libpipewire-module-metadata }
                      { name = libpipewire-module-protocol-pulse args = { server.address = [ "unix:\(socket)" ] } }
                    ]
                    pulse.cmd = [ { cmd = "load-module" args = "module-null-sink sink_name=nobody" flags = [ ] } ]

                    """
                try Data(configuration.utf8).write(to: file)
                environment = ["PULSE_SERVER": "unix:\(socket)", "PULSE_SINK": "nobody"]
                server = desktop.process("pipewire", ["-c", file.path])
                server.standardError = FileHandle.nullDevice
                try Programs.start(server)
                do {
                    // A browser that finds no server has no sound for a while.
                    _ = try await eventually("the server of sound") {
                        FileManager.default.fileExists(atPath: socket) ? true : nil
                    }
                } catch {
                    end()
                    throw error
                }
            }

            func end() {
                server.terminate()
                server.waitUntilExit()
            }
        }

        @Test("is heard whole, in step with the picture, by WebCodecs; ends with a click")
        func sound() async throws {
            try await Self.listening(by: .webCodecs) { place, browser in
                let error = "Math.abs(\(SoundPageTests.meter) - \(SoundPageTests.toneOnMeter))"
                try browser.wait(until: "\(error) < 0.005")
                try browser.wait(until: "Math.abs(\(SoundPageTests.figure("Sound after picture"))) <= 20")
                try await Task.sleep(for: .seconds(3))
                #expect(try browser.evaluate("\(error) < 0.02") as? Bool == true)
            }
        }

        @Test("is heard by media source extensions")
        func soundInFragments() async throws {
            try await Self.listening(by: .fragments) { _, browser in
                try SoundPageTests.expectSineOfVideo(browser)
                try browser.wait(until: "parseFloat(\(PageTests.figure("Presented"))) > 10")
            }
        }

        // MARK: - The library

        @Test("plays a recording of the library, and shows the picture of the time that is chosen")
        func library() async throws {
            try await LibraryPageTests.withRelay { relay in
                let session = try await relay.startSession(["record": true]).integer("id")
                _ = try await eventually("a recording with a picture") {
                    let items = try await relay.get("/v1/library")["items"] as? [RelayProcess.Object] ?? []
                    return items.first?["thumbnail"] as? Bool == true ? true : nil
                }
                try await Task.sleep(for: .seconds(4))
                try await relay.post("/v1/sessions/\(session)/record/stop")
                let browser = try Firefox()
                defer { browser.end() }
                try browser.resize(width: 1280, height: 1000)
                try browser.open("http://127.0.0.1:\(relay.httpPort)/#/library")
                try browser.wait(until: "document.querySelector('.glance > img')?.naturalWidth === 320")
                _ = try browser.evaluate("document.querySelector('.recordings th a').click()")
                try browser.wait(until: "document.querySelector('video')?.readyState > 0")
                _ = try browser.evaluate(
                    "{ const video = document.querySelector('video'); video.muted = true; video.play(); 0 }"
                )
                try browser.wait(until: "document.querySelector('video').currentTime > 1")
                let picture = """
                    new Promise((done) => {
                      const video = document.querySelector("video");
                      video.pause();
                      const read = () => {
                        const canvas = document.createElement("canvas");
                        Object.assign(canvas, { width: video.videoWidth, height: video.videoHeight });
                        const context = canvas.getContext("2d");
                        context.drawImage(video, 0, 0);
                        done(\(PageCounter.value));
                      };
                      video.onseeked = () => requestAnimationFrame(() => requestAnimationFrame(read));
                      video.currentTime = 2;
                    })
                    """
                let value = try #require(browser.evaluate(picture, seconds: 10) as? Int)
                #expect(value >= 0, "it shows a whole counter")
                #expect(try browser.evaluate("document.querySelector('video').error === null") as? Bool == true)
                #expect(browser.complaints == [])
            }
        }
    }
}
