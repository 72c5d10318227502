import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The web page", .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop"))
    struct PageTests {
        /// Reads the counter off the canvas at each picture until their PTS span some seconds: [[PTS, value]], with
        /// value −1 if it is unreadable.
        private static func counters(seconds: Int) -> String {
            """
            new Promise((done) => {
              const canvas = document.querySelector("canvas.picture");
              const context = canvas.getContext("2d");
              const seen = [];
              const read = ({ detail }) => {
                seen.push([detail.pts, \(PageCounter.value)]);
                if (detail.pts - seen[0][0] < \(seconds) * 1e6) return;
                canvas.removeEventListener("presented", read);
                done(seen);
              };
              canvas.addEventListener("presented", read);
            })
            """
        }

        /// JavaScript for the figure `name` over the picture.
        static func figure(_ name: String) -> String {
            """
            [...document.querySelectorAll(".overlay dt")].find((name) => name.textContent === "\(name)")?.nextSibling.textContent
            """
        }

        /// Expects pictures of a moving screen, and figures without errors.
        static func expectMoving(
            _ browser: some Browser,
            seconds: Int = Effort.choose(5, whole: 30)
        ) throws {
            let seen = try #require(browser.evaluate(counters(seconds: seconds), seconds: Double(seconds)) as? [[Int]])
            let (times, values) = (seen.map { $0[0] }, seen.map { $0[1] })
            let span = Double(times[times.count - 1] - times[0]) / 1e6
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "no picture is presented twice")
            #expect(!values.contains(-1), "every picture shows a whole counter")
            #expect(values == values.sorted(), "the screen never goes back")
            // Of 30. On a busy machine the browser leaves pictures out.
            let distinct = Double(Set(values).count - 1) / span
            #expect(distinct >= 15, "\(distinct) values a second, \(seen.count) pictures in \(span) s")
            try browser.wait(until: "\(figure("Latency p50 / p95"))?.includes('ms')")
            #expect(try browser.evaluate(figure("Decoder errors")) as? String == "0")
        }

        /// Opens the form for a new session.
        private static func openForm(in browser: Chromium, of relay: RelayProcess) throws {
            try browser.open("http://127.0.0.1:\(relay.httpPort)/")
            try browser.wait(until: "document.querySelector('.state')?.textContent === 'Live'")
            _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }))")
        }

        @Test(
            "starts a session by its form and plays it: every picture is presented, none twice, without decoder errors"
        )
        func plays() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": 30]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                let browser = try Chromium()
                defer { browser.end() }
                try Self.openForm(in: browser, of: relay)
                try browser.wait(until: "document.querySelector('dialog[open] input[name=label]')")
                _ = try browser.evaluate(
                    """
                    document.querySelector('dialog[open] input[name=label]').value = 'Desk <b>1</b>';
                    document.querySelector('dialog[open] button[type=submit]').click();
                    """
                )
                try browser.wait(until: "document.querySelector('h1')?.textContent === 'Desk <b>1</b>'")
                _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'i' }))")
                try browser.wait(until: "document.querySelector('.message')?.hidden")
                // The decoder returns its first pictures all at once.
                try browser.wait(until: "\(Self.figure("Presented")) > '2'")

                try Self.expectMoving(browser)
                #expect(try browser.evaluate(Self.figure("Player")) as? String == "WebCodecs")
                #expect(try browser.evaluate(Self.figure("Feed")) as? String == "primary")
                #expect(browser.complaints == [])

                try await relay.post("/screencapture/broadcast/stop")
                try browser.wait(until: "!document.querySelector('.stage .badge').hidden")
                try browser.wait(until: "document.querySelector('.message').textContent.startsWith('No pictures')")
                try await relay.post("/screencapture/broadcast/start", ["source": source])
                try browser.wait(until: "document.querySelector('.message').hidden")
                try browser.wait(until: "document.querySelector('.stage .badge').hidden")

                try await relay.post("/screencapture/stop")
                try browser.wait(until: "document.querySelector('.message').textContent === 'This session has ended.'")
            }
        }

        @Test("offers the colour of each pixel where the browser can play that, and plays it")
        func fullChroma() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": 30]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                let browser = try Chromium()
                defer { browser.end() }
                try Self.openForm(in: browser, of: relay)
                let choice = "document.querySelector('dialog[open] select[name=chroma]')"
                try browser.wait(until: "\(choice) && !\(choice).closest('label').hidden")
                _ = try browser.evaluate(
                    "\(choice).value = '444'; document.querySelector('dialog[open] button[type=submit]').click()"
                )
                try browser.wait(until: "document.querySelector('.message')?.hidden")
                _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'i' }))")
                try browser.wait(until: "\(Self.figure("Presented")) > '2'")
                try Self.expectMoving(browser)
                #expect(try browser.evaluate(Self.figure("Player")) as? String == "WebCodecs")
                #expect(browser.complaints == [])
                #expect(try await relay.get("/screencapture/1").string("chroma") == "444")
            }
        }

        @Test("measures how fast bytes come beside the session, and lowers its bitrate if that is less")
        func speed() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": 30]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                let session = try await relay.startSession(["fps": 30])
                let browser = try Chromium()
                defer { browser.end() }
                try browser.open("http://127.0.0.1:\(relay.httpPort)/#/session/\(session.integer("id"))")
                try browser.wait(until: "document.querySelector('.message')?.hidden")
                let press = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 't' }))"
                _ = try browser.evaluate(press)
                let text = "document.querySelector('.speed span').textContent"
                try browser.wait(until: "\(text).includes('come from the relay') && \(text).includes('leaves room')")
                #expect(try browser.evaluate("document.querySelector('.speed button').hidden") as? Bool == true)

                // A network that is slower than loopback.
                _ = try browser.evaluate(
                    """
                    import("/page/site.js").then(({ relay }) => {
                      relay.measureSpeed = async () => {
                        await new Promise((done) => setTimeout(done, 1000));
                        return { bytes: 1e6, seconds: 2, bitrate: 4e6 };
                      };
                    })
                    """
                )
                _ = try browser.evaluate(press)
                try browser.wait(until: "!document.querySelector('.speed button').hidden")
                _ = try browser.evaluate("document.querySelector('.speed button').click()")
                try browser.wait(until: "\(text).startsWith('The session has')")
                let bitrate = try await relay.get("/screencapture/\(session.integer("id"))").integer("bitrate")
                #expect((2_800_000..<6_000_000).contains(bitrate))
                #expect(browser.complaints == [])
            }
        }

        @Test("plays by media source extensions where WebCodecs is missing, through a change of size, close to now")
        func playsFragments() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": 30]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                let session = try await relay.startSession(["fps": 30])
                let browser = try Chromium()
                defer { browser.end() }
                // Also with a clock that differs from the relay's.
                try browser.beforePages(
                    run: """
                        delete globalThis.VideoDecoder;
                        const now = performance.now.bind(performance);
                        performance.now = () => now() + 1234567;
                        """
                )
                try browser.open("http://127.0.0.1:\(relay.httpPort)/#/session/\(session.integer("id"))")
                try browser.wait(until: "document.querySelector('.message')?.hidden")
                _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'i' }))")
                try browser.wait(until: "\(Self.figure("Presented")) > '2'")
                #expect(try browser.evaluate(Self.figure("Player")) as? String == "Media Source Extensions")
                try Self.expectMoving(browser)

                try await relay.patch("/screencapture/1", ["width": 320, "height": 180])
                try browser.wait(until: "\(Self.figure("Size")) === '320 × 180'")
                try Self.expectMoving(browser, seconds: 2)
                #expect(try browser.evaluate(Self.figure("Dropped")) as? String == "0 by the relay, 0 here")

                // A page that was busy for a while catches up.
                _ = try browser.evaluate("{ const end = Date.now() + 3000; while (Date.now() < end) {} }")
                let lag =
                    "new Promise((done) => canvas.addEventListener('presented', ({ detail }) => detail.latency < 500 && done(true)))"
                let caughtUp = try browser.evaluate(
                    "{ const canvas = document.querySelector('canvas.picture'); \(lag) }"
                )
                #expect(caughtUp as? Bool == true)
                let status = try await eventually("presentations that count") {
                    let status = try await relay.get("/screencapture/1")
                    return status.object("latency").object("captureToPresentation").integer("count") > 20 ? status : nil
                }
                #expect(status.object("counters").object("relay").integer("presentationsRefused") == 0)
                #expect(browser.complaints == [])
            }
        }

        @Test("shows JPEG pictures where a browser can play no video, says so, and ends them with the page")
        func snapshots() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": 30]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                // This browser cannot decode H.265.
                let session = try await relay.startSession(["codec": "h265", "fps": 30])
                let browser = try Chromium()
                defer { browser.end() }
                try browser.open("http://127.0.0.1:\(relay.httpPort)/#/session/\(session.integer("id"))")
                try browser.wait(until: "document.querySelector('.message')?.hidden")
                _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'i' }))")
                #expect(try browser.evaluate(Self.figure("Player")) as? String == "JPEG pictures")
                #expect(try browser.evaluate(Self.figure("Size")) as? String == "640 × 360")
                // Reads the counter off the image ten times a second.
                let values = try browser.evaluate(
                    """
                    new Promise(async (done) => {
                      const image = document.querySelector("img.picture");
                      const canvas = document.createElement("canvas");
                      Object.assign(canvas, { width: 640, height: 360, className: "picture" });
                      const context = canvas.getContext("2d", { willReadFrequently: true });
                      const values = new Set();
                      while (values.size < 10) {
                        context.drawImage(image, 0, 0);
                        values.add(\(PageCounter.value));
                        await new Promise((done) => setTimeout(done, 100));
                      }
                      done([...values]);
                    })
                    """,
                    seconds: 30
                )
                let seen = try #require(values as? [Int])
                #expect(!seen.contains(-1), "every picture shows a whole counter")
                #expect(seen == seen.sorted(), "the screen never goes back")
                _ = try browser.evaluate("location.hash = '#/'")
                _ = try await eventually("the end of the pictures") {
                    try await relay.get("/screencapture/1").integer("viewers") == 0 ? true : nil
                }
                #expect(browser.complaints == [])
            }
        }

        @Test("says plainly that it can play something in no way")
        func nothingPlays() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": 30]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                let session = try await relay.startSession(["codec": "h265"])
                let browser = try Chromium()
                defer { browser.end() }
                try browser.open("http://127.0.0.1:\(relay.httpPort)/?player=mse#/session/\(session.integer("id"))")
                try browser.wait(until: "document.querySelector('.message')?.textContent.includes('cannot show H.265')")
                #expect(browser.complaints == [])
            }
        }

        @Test("shows by badges that pictures are screenshots or outdated, and that the relay is gone")
        func badges() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, arguments: ["--watchdog", "1"], fallback: "test-pattern")
            try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "test-pattern"]])
            _ = try await relay.startSession(["width": 320, "height": 240])
            let agent = try await relay.get("/screencapture/broadcast").object("agent").integer("pid")
            _ = try await eventually("a warm standby") {
                let standby = try await relay.get("/screencapture/broadcast").object("standby")
                return standby.object("source").string("state") == "streaming" ? true : nil
            }
            let browser = try Chromium()
            defer { browser.end() }
            try browser.open("http://127.0.0.1:\(relay.httpPort)/#/session/1")
            try browser.wait(until: "document.querySelector('.message')?.hidden")
            try browser.wait(until: "document.querySelector('.stage .badge').hidden")
            // A restarted agent may end this state soon.
            _ = try browser.evaluate(
                """
                globalThis.badges = [];
                const badge = document.querySelector('.stage .badge');
                new MutationObserver(() => {
                  if (!badge.hidden) badges.push(`${badge.textContent} ${badge.className}: ${document.querySelector('.why').textContent}`);
                }).observe(badge, { attributes: true, childList: true });
                """
            )
            try Victim.signal(Int32(agent), SIGSTOP)
            try browser.wait(
                until: "badges.some((text) => /^Screenshot mode badge: There is no screencast/.test(text))"
            )
            for pid in desktop.processes(running: "capture-agent") { kill(pid, SIGSTOP) }
            try browser.wait(
                until: "badges.some((text) => /^Stale: no new pictures badge bad: .*You see the last one/.test(text))"
            )
            for pid in desktop.processes(running: "capture-agent") { kill(pid, SIGCONT) }
            try browser.wait(until: "document.querySelector('.stage .badge').hidden")
            relay.terminate()
            try browser.wait(
                until: "document.querySelector('.stage .badge:not([hidden])')?.textContent === 'Not connected'"
            )
            try browser.wait(until: "document.getElementById('notice').textContent.includes('last known state')")
        }

        @Test("lets a session without viewers sleep, says so, and wakes it to play it")
        func asleep() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 640, "height": 360, "fps": 30]
            try await SystemTests.withBroadcast(of: desktop, source: source) { _, relay in
                let session = try await relay.startSession(["onDemand": true]).integer("id")
                let browser = try Chromium()
                defer { browser.end() }
                try browser.open("http://127.0.0.1:\(relay.httpPort)/")
                let rests = """
                    document.querySelector('.tile .badge:not([hidden])')?.textContent === 'Asleep'
                      && document.querySelector('.tile img').naturalWidth > 0
                    """
                try browser.wait(until: rests)
                // Longer than the time between two pictures of the wall.
                try await Task.sleep(for: .seconds(3))
                #expect(try await relay.get("/screencapture/\(session)")["asleep"] as? Bool == true)
                let viewed = try await relay.get("/screencapture/\(session)").object("counters").object("relay")
                #expect(viewed.integer("pictures") == 0, "it was never awake")

                _ = try browser.evaluate("location.hash = '#/session/\(session)'")
                try browser.wait(until: "document.querySelector('.message')?.hidden")
                try browser.wait(until: "document.querySelector('.stage .badge').hidden")
                _ = try browser.evaluate("location.hash = '#/'")
                // The visible wall does not keep the session awake.
                try browser.wait(until: rests)
                #expect(browser.complaints == [])
            }
        }

        @Test("says what the relay says when a broadcast cannot start, and when the relay has gone")
        func failures() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, arguments: ["--source", "mutter"])
            let browser = try Chromium()
            defer { browser.end() }
            try browser.open("http://127.0.0.1:\(relay.httpPort)/")
            try browser.wait(until: "document.querySelector('.tile button.main')?.textContent === 'Watch'")
            _ = try browser.evaluate("document.querySelector('.tile button.main').click()")
            try browser.wait(until: "document.querySelector('.tile [role=alert]').textContent.length > 20")
            _ = try browser.evaluate("document.querySelector('.tile .more button').click()")
            _ = try browser.evaluate("document.querySelector('dialog[open] button[type=submit]').click()")
            try browser.wait(until: "document.querySelector('dialog[open] .wrong')?.textContent.length > 20")
            relay.terminate()
            try browser.wait(until: "document.getElementById('notice').textContent.includes('does not answer')")
        }
    }
}
