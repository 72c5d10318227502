import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "The library in the web page",
        .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop")
    )
    struct LibraryPageTests {
        /// Runs `body` with a relay whose device shows the test pattern, and which has a library.
        static func withRelay(_ body: (RelayProcess) async throws -> Void) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let relay = try await RelayProcess(
                arguments: [
                    "--source", "test-pattern", "--fallback", "none", "--library", folder.path, "--state-file", "none",
                ]
            )
            defer { relay.terminate() }
            try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 30])
            try await body(relay)
        }

        /// Runs `body` with such a relay, and with a browser.
        private static func withLibrary(_ body: (RelayProcess, Chromium) async throws -> Void) async throws {
            try await withRelay { relay in
                let browser = try Chromium()
                defer { browser.end() }
                try browser.resize(width: 1280, height: 1000)
                try await body(relay, browser)
                #expect(browser.complaints == [])
            }
        }

        /// Moves the mouse to the middle of an element.
        private static func point(_ browser: Chromium, at selector: String) throws {
            let middle = try browser.evaluate(
                """
                (() => {
                  const { x, y, width, height } = document.querySelector("\(selector)").getBoundingClientRect();
                  return [x + width / 2, y + height / 2];
                })()
                """
            )
            let numbers = try #require(middle as? [NSNumber])
            try browser.moveMouse(x: numbers[0].doubleValue, y: numbers[1].doubleValue)
        }

        /// JavaScript for whether the preview in `place` shows a whole picture of a sheet.
        private static func isShown(in place: String) -> String {
            """
            (() => {
              const preview = document.querySelector("\(place) .preview:not([hidden])");
              const image = preview?.querySelector("img");
              const frame = preview?.querySelector(".frame").getBoundingClientRect();
              return image?.naturalWidth === 320 && Math.abs(frame.width / frame.height - 16 / 9) < 0.05
                && Math.abs(image.getBoundingClientRect().width - frame.width) < 1;
            })()
            """
        }

        @Test("shows a recording's picture, other times of it under the pointer, and the space that is left")
        func pictures() async throws {
            try await Self.withLibrary { relay, browser in
                let session = try await relay.startSession(["record": true]).integer("id")
                _ = try await eventually("a recording with a picture") {
                    let items = try await relay.get("/v1/library")["items"] as? [RelayProcess.Object] ?? []
                    return items.first?["thumbnail"] as? Bool == true ? true : nil
                }
                try await relay.post("/v1/sessions/\(session)/record/stop")
                try browser.open("http://127.0.0.1:\(relay.httpPort)/#/library")
                try browser.wait(until: "document.querySelector('.glance > img')?.naturalWidth === 320")
                try browser.wait(until: "document.querySelector('.gauge').textContent.includes('free on the disk')")
                let width = try browser.evaluate("document.querySelector('.glance').offsetWidth") as? Int

                try Self.point(browser, at: ".glance")
                try browser.wait(until: Self.isShown(in: ".glance"))
                #expect(try browser.evaluate("document.querySelector('.glance').offsetWidth") as? Int == width)
                try browser.moveMouse(x: 1, y: 1)
                try browser.wait(until: "document.querySelector('.glance .preview').hidden")

                _ = try browser.evaluate("document.querySelector('.recordings th a').click()")
                try browser.wait(until: "document.querySelector('video')?.readyState > 0")
                try Self.point(browser, at: ".timeline")
                try browser.wait(until: Self.isShown(in: ".bubble"))
                try browser.moveMouse(x: 1, y: 1)
                try browser.wait(until: "document.querySelector('.bubble').hidden")
            }
        }

        @Test("lets a person choose what is recorded, and tells recording from waiting")
        func recordWhen() async throws {
            try await Self.withLibrary { relay, browser in
                let session = try await relay.startSession(["record": true]).integer("id")
                try browser.open("http://127.0.0.1:\(relay.httpPort)/")
                let badge = "document.querySelector('.tile .badge:is(.recording, .waiting)')?.textContent"
                try browser.wait(until: "\(badge) === 'Recording'")
                try await relay.patch("/v1/sessions/\(session)", ["recordWhen": "watched"])
                try browser.wait(until: "\(badge) === 'Recording waits for a viewer'")

                _ = try browser.evaluate("location.hash = '#/session/\(session)'")
                let select = "document.querySelector('.actions select')"
                try browser.wait(until: "\(select)?.value === 'watched'")
                try browser.wait(until: "document.querySelector('.stage .badge.recording:not([hidden])')")
                _ = try browser.evaluate(
                    "\(select).value = 'always'; \(select).dispatchEvent(new Event('change'));"
                )
                _ = try await eventually("the change") {
                    let report = try await relay.get("/v1/sessions/\(session)")
                    return report.string("recordWhen") == "always" ? true : nil
                }
            }
        }
    }
}
