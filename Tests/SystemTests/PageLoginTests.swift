import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "The web page of a relay with keys",
        .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop")
    )
    struct PageLoginTests {
        private static func make(_ name: String, role: String, in file: String) throws -> String {
            let arguments = ["keys", "make", name, "--role", role, "--keys-file", file]
            let outcome = try Programs.run(Programs.product("heliograph"), arguments)
            return outcome.output.trimmingCharacters(in: .newlines)
        }

        /// Types a key into the dialog and submits it.
        private static func logIn(_ key: String, _ browser: Chromium) throws {
            try browser.wait(until: "document.querySelector('dialog[open] input[name=key]')")
            _ = try browser.evaluate(
                """
                document.querySelector('dialog[open] input[name=key]').value = '\(key)';
                document.querySelector('dialog[open] button[type=submit]').click();
                """
            )
        }

        /// Submits the dialog that opens.
        private static func submit(_ browser: Chromium) throws {
            try browser.wait(until: "document.querySelector('dialog[open] button[type=submit]')")
            _ = try browser.evaluate("document.querySelector('dialog[open] button[type=submit]').click()")
        }

        @Test("asks for the key, plays a session with it, and forgets it when its user logs out")
        func login() async throws {
            let scratch = try Scratch()
            let file = scratch.file("keys.json").path
            let key = try Self.make("ci", role: "operator", in: file)
            let viewer = try Self.make("wall", role: "viewer", in: file)
            let relay = try await RelayProcess(
                arguments: ["--keys-file", file, "--source", "test-pattern", "--state-file", "none"]
            )
            defer { relay.terminate() }
            let url = "http://127.0.0.1:\(relay.httpPort)"
            let started = try Programs.run(
                Programs.product("heliograph"),
                ["start"],
                environment: ["HELIOGRAPH_RELAY": url, "HELIOGRAPH_KEY": key]
            )
            #expect(started.status == 0, "\(started.errors)")
            let browser = try Chromium()
            defer { browser.end() }
            try browser.open("\(url)/")
            try Self.logIn("hgk_nonsense", browser)
            try browser.wait(until: "document.querySelector('dialog[open] .wrong')?.textContent.includes('revoked')")
            try Self.logIn(key, browser)
            try browser.wait(until: "document.querySelector('#relay').textContent.includes('as ci (operator)')")
            #expect(try browser.evaluate("document.cookie") as? String == "", "no script reads the cookie")
            _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }))")
            try Self.submit(browser)
            // Plays over a WebSocket, by the cookie.
            try browser.wait(until: "document.querySelector('canvas.picture')")
            try browser.wait(until: "document.querySelector('.message')?.hidden")
            try browser.wait(until: "document.querySelector('.player .changes')?.offsetParent")
            _ = try browser.evaluate("document.querySelector('#login').click()")
            try Self.logIn(viewer, browser)
            try browser.wait(until: "document.querySelector('#relay').textContent.includes('as wall (viewer)')")
            // A viewer's key offers nothing else, in the player and in the list.
            let isOffered =
                "[...document.querySelectorAll('button')].some((b) => /Start|Stop|New/.test(b.textContent) && b.offsetParent)"
            try browser.wait(until: "document.querySelector('.message')?.hidden")
            #expect(try browser.evaluate(isOffered) as? Bool == false)
            _ = try browser.evaluate("location.hash = '#/'")
            // The page fetches the card's picture by the cookie, too.
            try browser.wait(until: "document.querySelector('.session img')?.naturalWidth > 0")
            #expect(try browser.evaluate(isOffered) as? Bool == false)
            _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }))")
            #expect(try browser.evaluate("document.querySelector('dialog[open]') === null") as? Bool == true)
        }

        /// The SHA-256 of a certificate's public key, base64.
        private static func pin(_ certificate: String) throws -> String {
            let script = """
                openssl x509 -in "$0" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
                """
            let outcome = try Programs.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script, certificate])
            return outcome.output.trimmingCharacters(in: .newlines)
        }

        @Test("is the same over HTTPS with the relay's own certificate: it logs in, starts a session and plays it")
        func encrypted() async throws {
            let scratch = try Scratch()
            let file = scratch.file("keys.json").path
            let key = try Self.make("ci", role: "operator", in: file)
            let relay = try await RelayProcess(
                arguments: [
                    "--keys-file", file, "--source", "test-pattern", "--state-file", "none", "--tls", "self-signed",
                ],
                environment: ["XDG_STATE_HOME": scratch.file("state").path]
            )
            defer { relay.terminate() }
            let certificate = scratch.file("state/heliograph/tls-certificate.pem").path
            let browser = try Chromium(trusted: try Self.pin(certificate))
            defer { browser.end() }
            try browser.open("https://localhost:\(relay.httpPort)/")
            try Self.logIn(key, browser)
            try browser.wait(until: "document.querySelector('.state')?.textContent === 'Off'")
            _ = try browser.evaluate("document.querySelector('.card .main').click()")
            try Self.submit(browser)
            try browser.wait(until: "document.querySelector('.state').textContent === 'Live'")
            _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }))")
            try Self.submit(browser)
            try browser.wait(until: "document.querySelector('.message')?.hidden")
            let pictures = try browser.evaluate(
                """
                new Promise((done) => {
                  const seen = new Set();
                  document.querySelector("canvas.picture").addEventListener("presented", ({ detail }) => {
                    seen.add(detail.pts);
                    if (seen.size === 30) done(30);
                  });
                })
                """,
                seconds: 30
            )
            #expect(pictures as? Int == 30)
            let schemes =
                "[...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).protocol))].join()"
            #expect(try browser.evaluate("location.protocol + isSecureContext") as? String == "https:true")
            #expect(try browser.evaluate(schemes) as? String == "https:")
            #expect(browser.complaints.filter { !$0.contains("401") } == [])
        }
    }
}
