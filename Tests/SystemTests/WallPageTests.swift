import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "The web page's wall and player",
        .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop")
    )
    struct WallPageTests {
        private static let shared = "/v1/devices/default/sessions/shared"
        private static let plays = "document.querySelector('.message')?.hidden"
        private static let stop = "document.querySelector('.player .heading button').click()"

        /// Runs `body` with a relay whose device can show the test pattern, and with its page.
        private static func withWall(_ body: (RelayProcess, Chromium) async throws -> Void) async throws {
            let relay = try await RelayProcess(
                arguments: [
                    "--source", "test-pattern", "--fallback", "none", "--library", "none", "--state-file", "none",
                ]
            )
            defer { relay.terminate() }
            let browser = try Chromium()
            defer { browser.end() }
            try browser.resize(width: 1280, height: 1000)
            try browser.open("http://127.0.0.1:\(relay.httpPort)/")
            try browser.wait(until: "document.querySelector('.tile .state')?.textContent === 'Off'")
            try await body(relay, browser)
        }

        /// Watches the device by one click.
        private static func watch(_ browser: Chromium) throws {
            _ = try browser.evaluate("document.querySelector('.tile button.main').click()")
            try browser.wait(until: "location.hash === '#/devices/default/shared' && \(plays)")
        }

        private static func press(_ key: String, _ browser: Chromium) throws {
            _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: '\(key)' }))")
        }

        /// Lets the page believe that it is hidden, or seen again.
        private static func hide(_ isHidden: Bool, _ browser: Chromium) throws {
            _ = try browser.evaluate(
                """
                Object.defineProperty(document, "hidden", { configurable: true, get: () => \(isHidden) });
                document.dispatchEvent(new Event("visibilitychange"));
                """
            )
        }

        private static func wait(forViewers count: Int, _ relay: RelayProcess) async throws {
            _ = try await eventually("\(count) viewers") {
                try await relay.get(shared).integer("viewers") == count ? true : nil
            }
        }

        @Test("starts what is missing by one click, and shows pictures of what it started")
        func watching() async throws {
            try await Self.withWall { relay, browser in
                try Self.watch(browser)
                let session = try await relay.get(Self.shared)
                #expect(session["onDemand"] as? Bool == true)
                #expect(session.integer("ttl") == 600)

                _ = try browser.evaluate("location.hash = '#/'")
                try browser.wait(until: "document.querySelector('.tile img:not([hidden])')?.naturalWidth > 0")
                try browser.wait(until: "document.querySelector('.tile .state').textContent === 'Live'")
                try await Self.wait(forViewers: 0, relay)
                // The address of the session's number becomes that of its name.
                let id = session.integer("id")
                _ = try browser.evaluate("location.hash = '#/session/\(id)'")
                try browser.wait(until: "location.hash === '#/devices/default/shared' && \(Self.plays)")
                #expect(browser.complaints == [])
            }
        }

        @Test("hides devices that do not match, and keeps the filters in the address")
        func filters() async throws {
            try await Self.withWall { _, browser in
                try Self.press("/", browser)
                #expect(try browser.evaluate("document.activeElement.type") as? String == "search")
                try browser.insert("other")
                try browser.wait(until: "document.querySelector('.tile').hidden && location.hash === '#/?q=other'")
                _ = try browser.evaluate("location.hash = '#/?q=def&state=off'")
                try browser.wait(until: "document.querySelector('.tile')?.hidden === false")
                _ = try browser.evaluate("location.hash = '#/?state=live'")
                try browser.wait(until: "document.querySelector('.tile')?.hidden === true")
                #expect(browser.complaints == [])
            }
        }

        @Test("follows events: sessions and devices appear without a new look")
        func events() async throws {
            try await Self.withWall { relay, browser in
                try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 30])
                try browser.wait(until: "document.querySelector('.tile .state').textContent === 'Live'")
                let session = try await relay.startSession(["label": "Desk 7"]).integer("id")
                let link = "document.querySelector('.tile h2 a').hash"
                try browser.wait(until: "\(link) === '#/session/\(session)'")
                try await relay.post("/v1/sessions/\(session)/stop")
                try browser.wait(until: "\(link) === ''")
                let calls =
                    "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/v1/')).length"
                let before = try #require(try browser.evaluate(calls) as? Int)
                try await Task.sleep(for: .seconds(5))
                #expect(try browser.evaluate(calls) as? Int == before, "nothing is asked for while nothing happens")
                #expect(browser.complaints == [])
            }
        }

        @Test("pauses, and plays what is live then")
        func pause() async throws {
            try await Self.withWall { relay, browser in
                try Self.watch(browser)
                try await Self.wait(forViewers: 1, relay)
                try Self.press(" ", browser)
                try browser.wait(until: "document.querySelector('.message').textContent === 'Paused'")
                try await Self.wait(forViewers: 0, relay)
                try Self.press(" ", browser)
                try browser.wait(until: Self.plays)
                try await Self.wait(forViewers: 1, relay)
                #expect(browser.complaints == [])
            }
        }

        @Test("watches nothing while it is hidden, and goes on when it is seen")
        func hidden() async throws {
            try await Self.withWall { relay, browser in
                try Self.watch(browser)
                try await Self.wait(forViewers: 1, relay)
                try Self.hide(true, browser)
                try await Task.sleep(for: .seconds(2))
                try await Self.wait(forViewers: 1, relay)
                try await Self.wait(forViewers: 0, relay)
                try Self.hide(false, browser)
                try browser.wait(until: Self.plays)
                try await Self.wait(forViewers: 1, relay)
                #expect(browser.complaints == [])
            }
        }

        @Test("asks before it stops a session that others watch")
        func stopping() async throws {
            try await Self.withWall { relay, browser in
                try Self.watch(browser)
                _ = try browser.evaluate(
                    """
                    import("/page/heliograph.js").then(({ Player, Relay }) => {
                      const session = new Relay().device().session("shared");
                      globalThis.other = new Player(document.createElement("canvas"), session);
                    })
                    """
                )
                try await Self.wait(forViewers: 2, relay)
                _ = try browser.evaluate(Self.stop)
                let question = "document.querySelector('dialog[open]')?.textContent"
                try browser.wait(until: "\(question)?.includes('1 other viewer watches')")
                _ = try browser.evaluate("document.querySelector('dialog[open] button[type=button]').click()")
                try browser.wait(until: "!document.querySelector('dialog[open]')")
                #expect(try await relay.get(Self.shared).integer("viewers") == 2)

                _ = try browser.evaluate("other.close()")
                try await Self.wait(forViewers: 1, relay)
                _ = try browser.evaluate(Self.stop)
                try browser.wait(until: "document.querySelector('.tile') && location.hash === '#/'")
            }
        }

        @Test("is only a player with view=player, and calls nothing but its session")
        func embedded() async throws {
            try await Self.withWall { relay, browser in
                try Self.watch(browser)
                let page = "http://127.0.0.1:\(relay.httpPort)/?view=player"
                try browser.open("\(page)#/devices/default/shared")
                try browser.wait(until: "location.search === '?view=player' && \(Self.plays)")
                let fills = "document.querySelector('.theatre').getBoundingClientRect().height === innerHeight"
                #expect(try browser.evaluate(fills) as? Bool == true)
                #expect(try browser.evaluate("document.querySelector('.top').offsetParent === null") as? Bool == true)
                let calls = """
                    performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)
                      .filter((path) => !path.startsWith('/page/')).join()
                    """
                #expect(try browser.evaluate(calls) as? String == Self.shared)
                #expect(browser.complaints == [])
            }
        }
    }
}
