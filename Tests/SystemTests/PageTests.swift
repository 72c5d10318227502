import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite("The web page", .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop"))
    struct PageTests {
        /// Reads the counter off the canvas at each picture until their PTS span some seconds: [[PTS, value]], value −1 where it is unreadable.
        ///
        /// The counter's cells are described in counter_pattern.h.
        private static func counters(seconds: Int) -> String {
            """
            new Promise((done) => {
              const canvas = document.querySelector("canvas.picture");
              const context = canvas.getContext("2d");
              const seen = [];
              const isLight = (data, x, y) => data[4 * (y * canvas.width + x)] > 128;
              const read = ({ detail }) => {
                const { width, height } = canvas;
                const { data } = context.getImageData(0, 0, width, Math.ceil(height / 6));
                let value = 0;
                for (let column = 0; column < 24; column += 1) {
                  const x = Math.floor((column + 0.5) * width / 24);
                  const bit = isLight(data, x, Math.floor(height / 24));
                  if (bit === isLight(data, x, Math.floor(height / 8))) value = NaN;
                  value = value * 2 + (bit ? 1 : 0);
                }
                seen.push([detail.pts, Number.isNaN(value) ? -1 : value]);
                if (detail.pts - seen[0][0] < \(seconds) * 1e6) return;
                canvas.removeEventListener("presented", read);
                done(seen);
              };
              canvas.addEventListener("presented", read);
            })
            """
        }

        /// The figure of that name over the picture.
        private static func figure(_ name: String) -> String {
            """
            [...document.querySelectorAll(".overlay dt")].find((name) => name.textContent === "\(name)")?.nextSibling.textContent
            """
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
                try browser.open("http://127.0.0.1:\(relay.httpPort)/")
                try browser.wait(until: "document.querySelector('.state')?.textContent === 'Live'")
                _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }))")
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
                // The decoder's first pictures come in a heap.
                try browser.wait(until: "\(Self.figure("Presented")) > '2'")

                let seconds = Effort.choose(10, whole: 30)
                let seen = try #require(
                    browser.evaluate(Self.counters(seconds: seconds), seconds: Double(seconds)) as? [[Int]]
                )
                let values = seen.map { $0[1] }
                let span = Double(seen[seen.count - 1][0] - seen[0][0]) / 1e6
                #expect(!values.contains(-1), "every picture shows a whole counter")
                #expect(values == values.sorted(), "the screen never goes back")
                let distinct = Double(Set(values).count - 1) / span
                #expect(distinct >= 29, "\(distinct) values a second, \(seen.count) pictures in \(span) s")

                try browser.wait(until: "\(Self.figure("Latency p50 / p95"))?.includes('ms')")
                #expect(try browser.evaluate(Self.figure("Decoder errors")) as? String == "0")
                #expect(try browser.evaluate(Self.figure("Feed")) as? String == "pipewire")
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

        @Test("says what the relay says when a broadcast cannot start, and when the relay has gone")
        func failures() async throws {
            let desktop = try Desktop(.none, sessionManager: false, client: false)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop, arguments: ["--source", "mutter"])
            let browser = try Chromium()
            defer { browser.end() }
            try browser.open("http://127.0.0.1:\(relay.httpPort)/")
            try browser.wait(until: "document.querySelector('.card button.main')?.textContent === 'Start…'")
            _ = try browser.evaluate("document.querySelector('.card button.main').click()")
            _ = try browser.evaluate("document.querySelector('dialog[open] button[type=submit]').click()")
            try browser.wait(until: "document.querySelector('dialog[open] .wrong')?.textContent.length > 20")
            relay.terminate()
            try browser.wait(until: "document.getElementById('notice').textContent.includes('does not answer')")
        }
    }
}
