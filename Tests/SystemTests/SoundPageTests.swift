import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "Sound in the web page",
        .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop")
    )
    struct SoundPageTests {
        /// JavaScript for the button's state: `true` or `false`.
        static let isPressed = "document.querySelector('.sound button').getAttribute('aria-pressed')"
        /// JavaScript for the meter's value: 1 for the loudest sound, and 0 for one that is 60 dB below.
        static let meter = "document.querySelector('.sound meter').value"
        /// The tone's level on the meter: a sine at half of full scale, whose two channels are 3 dB below that.
        static let toneOnMeter = 1 - 20 * log10(4.0) / 60

        /// JavaScript for a figure over the picture, as a number.
        static func figure(_ name: String) -> String {
            """
            parseFloat([...document.querySelectorAll(".overlay dt")].find((name) => name.textContent === "\(name)")?.nextSibling.textContent)
            """
        }

        /// Shows the session in a browser, plays the tone, and clicks on the button.
        private static func listening(
            before script: String = "",
            _ body: (SoundTests.Place, Chromium) async throws -> Void
        ) async throws {
            try await SoundTests.with(["--audio", "virtual"]) { place in
                let session = try await place.relay.get("/v1/devices/default/sessions/sound")
                let browser = try Chromium()
                defer { browser.end() }
                try browser.beforePages(run: script)
                try browser.open("http://127.0.0.1:\(place.relay.httpPort)/#/session/\(session.integer("id"))")
                try browser.wait(until: "document.querySelector('.message')?.hidden")
                _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'i' }))")
                try browser.wait(until: "document.querySelector('.sound button').checkVisibility()")
                #expect(try browser.evaluate(isPressed) as? String == "false", "sound is off until it is asked for")
                #expect(try await place.audio()["agent"] is NSNull, "nothing is captured before")
                let player = try place.play()
                defer {
                    player.terminate()
                    player.waitUntilExit()
                }
                try press(browser)
                try browser.wait(until: "\(isPressed) === 'true'")
                try await body(place, browser)
                #expect(browser.complaints == [])
            }
        }

        static func press(_ browser: some Browser) throws {
            let place = try browser.evaluate(
                """
                (() => {
                  const button = document.querySelector(".sound button");
                  button.scrollIntoView();
                  const { x, y, width, height } = button.getBoundingClientRect();
                  return [x + width / 2, y + height / 2];
                })()
                """
            )
            let (x, y) = try #require((place as? [Double]).map { ($0[0], $0[1]) })
            try browser.click(x: x, y: y)
        }

        /// Expects to hear the sine, at its level, from the page's last video element, `lastVideo`.
        static func expectSineOfVideo(_ browser: some Browser) throws {
            // The click connects anew, with the sound's track.
            try browser.wait(until: "globalThis.lastVideo?.currentTime > 1")
            let level = """
                new Promise((done) => {
                  const context = new AudioContext();
                  const analyser = new AnalyserNode(context, { fftSize: 2048 });
                  context.createMediaElementSource(globalThis.lastVideo).connect(analyser);
                  const samples = new Float32Array(2048);
                  const begin = Date.now();
                  const look = () => {
                    analyser.getFloatTimeDomainData(samples);
                    const level = Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length);
                    if (Math.abs(level - 0.25) < 0.02 || Date.now() - begin > 15000) done(level);
                    else setTimeout(look, 50);
                  };
                  look();
                })
                """
            let heard = try browser.evaluate(level, seconds: 20) as? Double ?? 0
            #expect(abs(heard - 0.25) < 0.02, "\(heard)")
        }

        @Test("is heard whole, and the picture waits for it, by WebCodecs; ends with a click")
        func webCodecs() async throws {
            try await Self.listening { place, browser in
                try browser.wait(until: "Math.abs(\(Self.meter) - \(Self.toneOnMeter)) < 0.005")
                try browser.wait(until: "Math.abs(\(Self.figure("Sound after picture"))) <= 20")
                try await Task.sleep(for: .seconds(Effort.choose(3, whole: 60)))
                #expect(try browser.evaluate("Math.abs(\(Self.figure("Sound after picture"))) <= 20") as? Bool == true)
                #expect(try browser.evaluate("Math.abs(\(Self.meter) - \(Self.toneOnMeter)) < 0.02") as? Bool == true)
                try Self.press(browser)
                try browser.wait(until: "\(Self.isPressed) === 'false'")
                _ = try await eventually("the end of the capture") {
                    try await place.audio()["agent"] is NSNull ? true : nil
                }
            }
        }

        @Test("is heard by media source extensions, where WebCodecs is missing")
        func fragments() async throws {
            let script = """
                delete globalThis.VideoDecoder;
                const make = document.createElement.bind(document);
                document.createElement = (name, ...rest) => {
                  const made = make(name, ...rest);
                  if (name === "video") globalThis.lastVideo = made;
                  return made;
                };
                """
            try await Self.listening(before: script) { _, browser in
                try Self.expectSineOfVideo(browser)
                try browser.wait(until: "\(Self.figure("Presented")) > 20")
            }
        }
    }
}
