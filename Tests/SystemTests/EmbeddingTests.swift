import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Tests of Examples/embed: a page on another site plays a session with Clients/js.
    @Suite(
        "A page that embeds the player",
        .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop")
    )
    struct EmbeddingTests {
        /// Reads the counter at each picture until their PTS span some seconds: [[PTS, value]].
        private static func counters(seconds: Int) -> String {
            """
            new Promise((done) => {
              const { canvas } = player;
              const context = canvas.getContext("2d");
              const seen = [];
              const read = ({ detail }) => {
                seen.push([detail.pts, \(PageCounter.value)]);
                if (detail.pts - seen[0][0] < \(seconds) * 1e6) return;
                player.removeEventListener("presented", read);
                done(seen);
              };
              player.addEventListener("presented", read);
            })
            """
        }

        /// Notes the states of another player, `second`, in `states`.
        private static func second(_ place: String, _ screen: String, _ options: String = "{}") -> String {
            """
            import("/relay/page/heliograph.js").then(({ Player, Relay }) => {
              window.states = [];
              window.second = new Player(\(place), new Relay("/relay").\(screen), \(options));
              second.addEventListener("state", ({ detail }) => states.push(detail.state));
            })
            """
        }

        private static func expectMoving(_ browser: Chromium, seconds: Int) throws {
            try browser.wait(until: "window.player?.state === 'playing'")
            let seen = try #require(browser.evaluate(counters(seconds: seconds), seconds: Double(seconds)) as? [[Int]])
            let values = seen.map { $0[1] }
            #expect(!values.contains(-1), "every picture shows a whole counter")
            #expect(values == values.sorted(), "the screen never goes back")
            // Of 30 a second. On a busy machine the browser leaves pictures out.
            #expect(Set(values).count > 15 * seconds, "\(values)")
        }

        private static func withPage(
            _ body: (Chromium, RelayProcess, EmbeddingServer) async throws -> Void
        ) async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": 30]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                let server = try EmbeddingServer(relay: relay)
                defer { server.end() }
                let browser = try Chromium()
                defer { browser.end() }
                try await body(browser, relay, server)
            }
        }

        @Test("plays a device's session that is started after the page, reads its figures, and takes its picture")
        func plays() async throws {
            try await Self.withPage { browser, relay, server in
                try browser.open(server.url)
                try browser.wait(until: "document.querySelector('#state')?.textContent.includes('no session shared')")
                try await relay.put("/v1/devices/default/sessions/shared", ["fps": 30])
                try Self.expectMoving(browser, seconds: 3)
                #expect(try browser.evaluate("document.querySelector('#state').textContent") as? String == "")

                try browser.wait(until: "player.figures.latency.p95 > 0 && player.figures.fpsOut > 20")
                let figures =
                    "[player.figures.player, player.figures.width, player.figures.height, player.figures.errors].join()"
                #expect(try browser.evaluate(figures) as? String == "webcodecs,640,360,0")
                #expect(try browser.evaluate("player.feed") as? String == "primary")
                let picture = "player.snapshot().then(createImageBitmap).then(({ width, height }) => [width, height])"
                #expect(try browser.evaluate(picture) as? [Int] == [640, 360])

                _ = try browser.evaluate("player.close()")
                _ = try await eventually("a session without viewers") {
                    try await relay.get("/v1/devices/default/sessions/shared").integer("viewers") == 0 ? true : nil
                }
                #expect(try browser.evaluate("player.state") as? String == "closed")
                #expect(browser.complaints.filter { !$0.contains("404") && !$0.contains("WebSocket") } == [])
            }
        }

        @Test("plays in an element of the page by each way, and leaves nothing of it when it is closed")
        func ways() async throws {
            try await Self.withPage { browser, relay, server in
                let session = try await relay.put("/v1/devices/default/sessions/door", ["fps": 30])
                try browser.open(server.url)
                try browser.wait(until: "window.player")
                _ = try browser.evaluate("player.close()")
                let before = try browser.evaluate("document.body.innerHTML") as? String
                for way in ["webcodecs", "mse", "mjpeg"] {
                    let screen = "device('default').session('door')"
                    _ = try browser.evaluate(Self.second("document.body", screen, "{ player: '\(way)' }"))
                    try browser.wait(until: "states.at(-1) === 'playing'")
                    #expect(try browser.evaluate("second.player") as? String == way)
                    _ = try browser.evaluate("second.close()")
                    #expect(try browser.evaluate("document.body.innerHTML") as? String == before)
                }
                // A player by id does not come back after the session has ended.
                _ = try browser.evaluate(Self.second("document.body", "session(\(session.integer("id")))"))
                try browser.wait(until: "states.at(-1) === 'playing'")
                try await relay.delete("/v1/devices/default/sessions/door")
                try browser.wait(until: "states.at(-1) === 'ended'")
            }
        }

        @Test("chooses anew when the session is of another codec than it thought")
        func codec() async throws {
            try await Self.withPage { browser, relay, server in
                try await relay.put("/v1/devices/default/sessions/shared", ["fps": 30, "codec": "h265"])
                try browser.open(server.url)
                // This browser cannot decode H.265.
                try browser.wait(until: "window.player?.player === 'mjpeg' && player.state === 'playing'")
            }
        }

        @Test("gets nothing from a relay of another origin: no module, no answer, no WebSocket")
        func otherOrigin() async throws {
            try await Self.withPage { browser, relay, server in
                try await relay.put("/v1/devices/default/sessions/shared", ["fps": 30])
                try browser.open(server.url)
                try browser.wait(until: "window.player?.state === 'playing'")
                let other = "http://127.0.0.1:\(relay.httpPort)"
                let imported = "import('\(other)/page/heliograph.js').then(() => 'imported', () => 'refused')"
                #expect(try browser.evaluate(imported) as? String == "refused")
                let called = """
                    import("/relay/page/heliograph.js")
                      .then(({ Relay }) => new Relay("\(other)").devices())
                      .then(() => "answered", (error) => error.message)
                    """
                let message = try browser.evaluate(called) as? String
                #expect(message?.contains("does not answer pages of another origin") == true, "\(message ?? "")")
                let connected = """
                    new Promise((done) => {
                      const socket = new WebSocket("\(other.replacing("http", with: "ws"))/v1/devices/default/ws");
                      socket.onopen = () => done("connected");
                      socket.onclose = () => done("refused");
                    })
                    """
                #expect(try browser.evaluate(connected, seconds: 10) as? String == "refused")
            }
        }

        @Test("watches with the key of its server, which visitors never see")
        func key() async throws {
            let scratch = try Scratch()
            let file = scratch.file("keys.json").path
            let key = try Programs.run(
                Programs.product("heliograph"),
                ["keys", "make", "wall", "--role", "viewer", "--keys-file", file]
            ).output.trimmingCharacters(in: .newlines)
            let configuration = scratch.file("relay.yaml")
            try "devices: {default: {onDemand: true, source: {kind: test-pattern, width: 640, height: 360, fps: 30}}}\n"
                .write(to: configuration, atomically: true, encoding: .utf8)
            let relay = try await RelayProcess(
                arguments: ["--config", configuration.path, "--keys-file", file, "--state-file", "none"]
            )
            defer { relay.terminate() }
            let server = try EmbeddingServer(relay: relay, key: key)
            defer { server.end() }
            let browser = try Chromium()
            defer { browser.end() }
            try browser.open(server.url)
            // The device is broadcast on demand: watching starts it.
            try Self.expectMoving(browser, seconds: 2)
            let changed = """
                import("/relay/page/heliograph.js")
                  .then(({ Relay }) => new Relay("/relay/").device().stop())
                  .then(() => "stopped", (error) => error.code)
                """
            #expect(try browser.evaluate(changed) as? String == "forbidden_role")
            #expect(try browser.evaluate("document.documentElement.outerHTML.includes('\(key)')") as? Bool == false)
        }
    }
}
