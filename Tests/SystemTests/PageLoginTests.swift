import Foundation
import TestSupport
import Testing

extension SystemTests {
    @Suite(
        "The web page of a relay with keys",
        .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop")
    )
    struct PageLoginTests {
        private static func make(_ name: String, role: String, _ more: String..., in file: String) throws -> String {
            let arguments = ["keys", "make", name, "--role", role, "--keys-file", file] + more
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
            // A viewer's key offers nothing else, in the player and on the wall.
            let isOffered =
                "[...document.querySelectorAll('button')].some((b) => /Start|Stop|New/.test(b.textContent) && b.offsetParent)"
            try browser.wait(until: "document.querySelector('.message')?.hidden")
            #expect(try browser.evaluate(isOffered) as? Bool == false)
            _ = try browser.evaluate("location.hash = '#/'")
            // The wall's pictures come by the cookie, too.
            try browser.wait(until: "document.querySelector('.tile img')?.naturalWidth > 0")
            #expect(try browser.evaluate(isOffered) as? Bool == false)
            _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }))")
            #expect(try browser.evaluate("document.querySelector('dialog[open]') === null") as? Bool == true)
        }

        /// Logs out, and logs in with the key of this name.
        private static func change(to key: String, named name: String, _ browser: Chromium) throws {
            _ = try browser.evaluate("document.querySelector('#login').click()")
            try logIn(key, browser)
            try browser.wait(until: "document.querySelector('#relay').textContent.includes('as \(name) (')")
        }

        /// Returns whether the first element that `selector` finds is there and not hidden.
        private static func shows(_ selector: String, _ browser: Chromium) throws -> Bool? {
            try browser.evaluate("Boolean(document.querySelector('\(selector)')?.offsetParent)") as? Bool
        }

        private static func press(_ key: String, _ browser: Chromium) throws {
            _ = try browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: '\(key)' }))")
        }

        @Test("offers what the key's rights in the library allow, whatever its role")
        func libraryRights() async throws {
            let scratch = try Scratch()
            let file = scratch.file("keys.json").path
            let owner = try Self.make("owner", role: "operator", in: file)
            let recorder = try Self.make("recorder", role: "viewer", "--library", "record", in: file)
            let keeper = try Self.make("keeper", role: "viewer", "--library", "look,delete", in: file)
            let outsider = try Self.make("outsider", role: "operator", "--library", "none", in: file)
            let relay = try await RelayProcess(
                arguments: [
                    "--keys-file", file, "--source", "test-pattern", "--state-file", "none",
                    "--library", scratch.file("library").path,
                ]
            )
            defer { relay.terminate() }
            let url = "http://127.0.0.1:\(relay.httpPort)"
            for words in [["start"], ["session", "start", "door"]] {
                let started = try Programs.run(
                    Programs.product("heliograph"),
                    words,
                    environment: ["HELIOGRAPH_RELAY": url, "HELIOGRAPH_KEY": owner]
                )
                #expect(started.status == 0, "\(started.errors)")
            }
            let browser = try Chromium()
            defer { browser.end() }
            try browser.open("\(url)/#/session/1")
            try Self.logIn(owner, browser)
            try browser.wait(until: "document.querySelector('.player .records')?.offsetParent")
            #expect(try Self.shows(".actions select", browser) == true)

            // The right to record is enough to start and end a recording, and for nothing else.
            try Self.change(to: recorder, named: "recorder", browser)
            try browser.wait(until: "document.querySelector('.player .records')?.offsetParent")
            #expect(try Self.shows(".player .changes", browser) == false)
            #expect(try Self.shows(".actions select", browser) == false)
            try Self.press("l", browser)
            try browser.wait(until: "document.querySelector('.stage .badge.recording:not([hidden])')")
            try Self.press("l", browser)
            try browser.wait(until: "document.querySelector('.stage .badge.corner').hidden")
            #expect(try browser.evaluate("document.querySelector('.player > .wrong').textContent") as? String == "")

            // Without the right to look, a sentence is there instead of the library.
            let sentence = "textContent.includes('does not have the right to look')"
            _ = try browser.evaluate("location.hash = '#/library'")
            try browser.wait(until: "document.querySelector('.library .empty:not([hidden])')?.\(sentence)")
            #expect(try Self.shows(".filters", browser) == false)
            #expect(try browser.evaluate("document.querySelector('.glance') === null") as? Bool == true)
            #expect(try browser.evaluate("document.querySelector('.library .wrong').textContent") as? String == "")

            try Self.change(to: keeper, named: "keeper", browser)
            try browser.wait(until: "document.querySelector('.recordings th a')")
            _ = try browser.evaluate("document.querySelector('.recordings th a').click()")
            try browser.wait(until: "document.querySelector('video')?.readyState > 0")
            #expect(try Self.shows(".player .deletes", browser) == true)
            try Self.press("p", browser)
            try browser.wait(until: "document.querySelector('.player .deletes[aria-pressed=true]')")

            // The same recording, and the session, with an operator's key that has no right in the library.
            try Self.change(to: outsider, named: "outsider", browser)
            try browser.wait(until: "document.querySelector('.stage .message')?.\(sentence)")
            #expect(try Self.shows(".player .deletes", browser) == false)
            #expect(try browser.evaluate("document.querySelector('video').hasAttribute('src')") as? Bool == false)
            _ = try browser.evaluate("location.hash = '#/session/1'")
            try browser.wait(until: "document.querySelector('.player .changes')?.offsetParent")
            try browser.wait(until: "document.querySelector('.actions select')?.hidden")
            #expect(try Self.shows(".player .records", browser) == false)

            // The page does not ask for what the relay would refuse.
            #expect(browser.complaints.filter { $0.contains("403") } == [])
        }

        /// What the browser complains about, except calls and WebSockets that the relay has refused.
        private static func complaints(of browser: Chromium) -> [String] {
            browser.complaints.filter { text in
                !["401", "403", "404", "409", "no valid credentials"].contains { text.contains($0) }
            }
        }

        /// Fills a field of the dialog that is open.
        private static func fill(_ field: String, with text: String, _ browser: Chromium) throws {
            _ = try browser.evaluate("document.querySelector('dialog[open] [name=\(field)]').value = '\(text)'")
        }

        /// Clicks the button that shows `text`.
        private static func click(_ text: String, in place: String, _ browser: Chromium) throws {
            let button = "[...document.querySelectorAll('\(place) button')].find((b) => b.textContent === '\(text)')"
            try browser.wait(until: "\(button)?.offsetParent")
            _ = try browser.evaluate("\(button).click()")
        }

        /// Makes a key on the page, and returns it.
        private static func makeKey(_ name: String, _ browser: Chromium) throws -> String? {
            try click("Make a key…", in: ".heading", browser)
            try browser.wait(until: "document.querySelector('dialog[open] [name=name]')")
            try fill("name", with: name, browser)
            try click("Make", in: "dialog[open]", browser)
            try browser.wait(until: "document.querySelector('dialog[open] .copied input')")
            let key = try browser.evaluate("document.querySelector('.copied input').value") as? String
            try click("Done", in: "dialog[open]", browser)
            try browser.wait(until: "!document.querySelector('dialog[open]')")
            return key
        }

        @Test("makes the first key and others, revokes them, and runs a tunnel")
        func access() async throws {
            let scratch = try Scratch()
            let file = scratch.file("keys.json").path
            let relay = try await RelayProcess(
                arguments: [
                    "--keys-file", file, "--source", "test-pattern", "--state-file", "none",
                    "--tunnel-executable", "/nonexistent/cloudflared",
                ]
            )
            defer { relay.terminate() }
            let url = "http://127.0.0.1:\(relay.httpPort)"
            let browser = try Chromium()
            defer { browser.end() }
            try browser.open("\(url)/")
            try browser.wait(until: "document.querySelector('.places .changes')?.offsetParent")
            _ = try browser.evaluate("document.querySelector('.places .changes').click()")
            try browser.wait(until: "document.querySelector('main .empty')?.textContent.includes('need no key')")
            let key = try #require(try Self.makeKey("boss", browser))
            // From now on the page has a cookie for it.
            try browser.wait(until: "document.querySelector('#relay').textContent.includes('as boss (operator)')")
            try browser.wait(until: "document.querySelector('[aria-label=\"Key boss\"]')")
            #expect(try Self.shows("main .empty", browser) == false)
            let other = try #require(try Self.makeKey("wall", browser))
            for (key, name) in [(key, "boss"), (other, "wall")] {
                let outcome = try Programs.run(
                    Programs.product("heliograph"),
                    ["devices"],
                    environment: ["HELIOGRAPH_RELAY": url, "HELIOGRAPH_KEY": key]
                )
                #expect(outcome.status == 0, "\(name): \(outcome.errors)")
            }
            try Self.click("Revoke…", in: "[aria-label=\"Key wall\"]", browser)
            try Self.click("Revoke", in: "dialog[open]", browser)
            try browser.wait(until: "!document.querySelector('[aria-label=\"Key wall\"]')")

            try Self.click("Start a tunnel…", in: "main", browser)
            try Self.submit(browser)
            try browser.wait(until: "document.querySelector('main').textContent.includes('Install cloudflared from')")
            try Self.click("End the tunnel", in: "main", browser)
            try browser.wait(until: "document.querySelector('main').textContent.includes('The relay runs no tunnel.')")
            // Without a right to manage them, there is nothing to see.
            let viewer = try Self.make("viewer", role: "viewer", in: file)
            try Self.change(to: viewer, named: "viewer", browser)
            #expect(try Self.shows(".places .changes", browser) == false)
            try browser.wait(until: "document.querySelector('main .wrong').textContent.includes('role operator')")
            #expect(try Self.shows("main .heading", browser) == false)
            #expect(Self.complaints(of: browser) == [])
        }

        /// The SHA-256 of a certificate's public key, base64.
        private static func pin(_ certificate: String) throws -> String {
            let script = """
                openssl x509 -in "$0" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64
                """
            let outcome = try Programs.run(URL(fileURLWithPath: "/bin/bash"), ["-c", script, certificate])
            return outcome.output.trimmingCharacters(in: .newlines)
        }

        /// The relay's own certificate, in its test's folder.
        private static let certificate = "state/heliograph/tls-certificate.pem"

        /// Starts a relay with its own certificate, and returns it with an operator's key.
        private static func encryptedRelay(_ scratch: Scratch) async throws -> (RelayProcess, String) {
            let file = scratch.file("keys.json").path
            let key = try make("ci", role: "operator", in: file)
            let relay = try await RelayProcess(
                arguments: [
                    "--keys-file", file, "--source", "test-pattern", "--state-file", "none", "--tls", "self-signed",
                ],
                environment: ["XDG_STATE_HOME": scratch.file("state").path]
            )
            return (relay, key)
        }

        @Test("is the same over HTTPS with the relay's own certificate: it logs in, starts a session and plays it")
        func encrypted() async throws {
            let scratch = try Scratch()
            let (relay, key) = try await Self.encryptedRelay(scratch)
            defer { relay.terminate() }
            let browser = try Chromium(trusted: try Self.pin(scratch.file(Self.certificate).path))
            defer { browser.end() }
            try browser.open("https://localhost:\(relay.httpPort)/")
            try Self.logIn(key, browser)
            try browser.wait(until: "document.querySelector('.state')?.textContent === 'Off'")
            // The first of the actions that the tile hides at first: Start.
            _ = try browser.evaluate("document.querySelector('.tile .more button').click()")
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
            #expect(Self.complaints(of: browser) == [])
        }

        @Test("shows a PIN, and what becomes of it; the client that has paired is among the keys, until it is revoked")
        func pairing() async throws {
            let scratch = try Scratch()
            let (relay, key) = try await Self.encryptedRelay(scratch)
            defer { relay.terminate() }
            let url = "https://localhost:\(relay.httpPort)"
            func pair(_ pin: String) throws -> Programs.Outcome {
                try Programs.run(
                    URL(fileURLWithPath: "/bin/sh"),
                    ["-c", "echo \(pin) | \(Programs.product("heliograph").path) pair \(url) --name laptop"],
                    environment: ["XDG_STATE_HOME": scratch.file("client").path]
                )
            }
            let browser = try Chromium(trusted: try Self.pin(scratch.file(Self.certificate).path))
            defer { browser.end() }
            try browser.open("\(url)/")
            try Self.logIn(key, browser)
            try browser.wait(until: "document.querySelector('#relay').textContent.includes('as ci (operator)')")
            _ = try browser.evaluate("location.hash = '#/access'")
            func arm() throws -> String {
                try Self.click("Pair a client…", in: ".heading", browser)
                try Self.click("Make a PIN", in: "dialog[open]", browser)
                try browser.wait(until: "document.querySelector('dialog[open] .pin')")
                return try browser.evaluate("document.querySelector('dialog[open] .pin').textContent") as? String ?? ""
            }
            func close(after words: String) throws {
                let state = "document.querySelector('dialog[open] .pairing')?.textContent"
                try browser.wait(until: "\(state)?.includes('\(words)')")
                try Self.click("Done", in: "dialog[open]", browser)
                try browser.wait(until: "!document.querySelector('dialog[open]')")
            }
            let burnt = try arm()
            let wrong = burnt.dropLast() + (burnt.last == "0" ? "1" : "0")
            #expect(try pair(String(wrong)).errors.contains("wrong_pin"))
            try close(after: "It is burnt")
            let paired = try pair(try arm())
            #expect(paired.status == 0, "\(paired)")
            try close(after: "laptop has paired")
            let card = "[...document.querySelectorAll('.card')].find((c) => c.textContent.includes('laptop'))"
            try browser.wait(until: "\(card)?.textContent.includes('Paired')")
            // The PIN ends with the dialog.
            let closed = try arm()
            try close(after: "Waiting")
            let late = try pair(closed)
            #expect(late.errors.contains("pairing_not_armed"), "\(late)")
            _ = try browser.evaluate("[...\(card).querySelectorAll('button')].at(-1).click()")
            try Self.submit(browser)
            try browser.wait(until: "!\(card)")
            #expect(Self.complaints(of: browser) == [])
        }
    }
}
