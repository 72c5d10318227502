import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests of a person who acts on the screen in the web page. A client that fills the screen says what it got.
    @Suite(
        "Acting on the screen in the web page",
        .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop")
    )
    struct PageControlTests {
        private static let screens: [Screen] = [.sway, .xvfb]
        private static let source = PictureSize(width: 1280, height: 720)
        /// The page's button that begins control.
        private static let button = "document.querySelector('.player > .actions > button.main')"
        private static let stop = "document.querySelector('.controls button').click()"
        private static let isControlling = "document.querySelector('.stage.controlling') !== null"

        /// A page that is logged in to the relay of a desktop.
        private struct Place {
            let desktop: Desktop
            let browser: Chromium
            let port: Int

            /// Opens the page of the device's session of that name.
            func open(_ session: String, _ settings: String = "{}") async throws {
                let path = "v1/devices/default/sessions/\(session)"
                let started = """
                    import("/page/heliograph.js").then(({ Relay }) => new Relay().call("PUT", "\(path)", { body: \(settings) }))
                    """
                _ = try browser.evaluate(started, seconds: 20)
                try browser.open("http://127.0.0.1:\(port)/#/devices/default/\(session)")
                let title = session == "shared" ? "default" : "default · \(session)"
                try browser.wait(until: "document.querySelector('h1')?.textContent === '\(title)'")
                try browser.wait(until: "document.querySelector('.message')?.hidden")
                try browser.wait(until: "\(PageControlTests.button)?.disabled === false")
            }

            /// The point of the page that shows a point of the upright picture, rounded to the page's pixels, and
            /// which point of the picture that is.
            func point(_ u: Double, _ v: Double) throws -> (
                page: (x: Double, y: Double), picture: (u: Double, v: Double)
            ) {
                let found = try browser.evaluate(
                    """
                    (() => {
                      const canvas = document.querySelector("canvas.picture");
                      canvas.scrollIntoView({ block: "center" });
                      const { left, top, width, height } = canvas.getBoundingClientRect();
                      const [x, y] = [Math.floor(left + \(u) * width / canvas.width), Math.floor(top + \(v) * height / canvas.height)];
                      return [x, y, (x - left) * canvas.width / width, (y - top) * canvas.height / height];
                    })()
                    """
                )
                let numbers = try #require((found as? [NSNumber])?.map(\.doubleValue))
                return ((numbers[0], numbers[1]), (numbers[2], numbers[3]))
            }

            /// Clicks on the picture, and returns where in it that was.
            @discardableResult
            func click(_ u: Double, _ v: Double) throws -> (u: Double, v: Double) {
                let (page, picture) = try point(u, v)
                try browser.click(x: page.x, y: page.y)
                return picture
            }

            /// Begins control by a click on the picture.
            func begin() throws {
                try click(50, 50)
                try browser.wait(until: PageControlTests.isControlling)
            }

            func mark() throws -> Int { try desktop.inputEvents().count }

            @discardableResult
            func events(after mark: Int, until what: String, _ condition: ([InputEvent]) -> Bool) async throws
                -> [InputEvent]
            {
                try await eventually(what, limit: .seconds(5)) {
                    let events = Array(try desktop.inputEvents().dropFirst(mark))
                    return condition(events) ? events : nil
                }
            }

            func isGone(_ key: String, after mark: Int) async throws {
                try await events(after: mark, until: "the release of \(key)") {
                    $0.contains { $0.name == "key" && $0.fields.starts(with: [key, "up"]) }
                }
            }

            func press(_ key: String, code: String) throws {
                try browser.key(key, code: code, isDown: true)
                try browser.key(key, code: code, isDown: false)
            }
        }

        private func withPage(
            _ screen: Screen,
            _ arguments: [String] = [],
            _ body: (Place) async throws -> Void
        ) async throws {
            let desktop = try Desktop(screen.compositor, size: Self.source.description, client: false)
            defer { desktop.end() }
            try desktop.startInputLog()
            try desktop.stageCommand()
            // The browser's user is not the desktop's, so it needs a key. The relay reads the file as the desktop's.
            let file = desktop.directory.appendingPathComponent("run/keys.json").path
            let made = try Programs.run(
                Programs.desktop,
                ["exec", desktop.directory.path, "heliograph", "keys", "make", "person", "--role", "operator"]
                    + ["--keys-file", file]
            )
            let key = made.output.trimmingCharacters(in: .newlines)
            #expect(made.status == 0, "\(made.errors)")
            let relay = try await RelayProcess(
                in: desktop,
                arguments: ["--source", "screenshot", "--keys-file", file] + arguments
            )
            defer { relay.terminate() }
            let browser = try Chromium()
            defer { browser.end() }
            try browser.focus()
            try browser.resize(width: 1400, height: 1200)
            try browser.open("http://127.0.0.1:\(relay.httpPort)/livez")
            try browser.wait(until: "location.pathname === '/livez' && document.readyState === 'complete'")
            let start = """
                import("/page/heliograph.js").then(async ({ Relay }) => {
                  const relay = new Relay("/");
                  await relay.logIn("\(key)");
                  return relay.device().start({ timeout: 60 });
                })
                """
            _ = try browser.evaluate(start, seconds: 60)
            try await body(Place(desktop: desktop, browser: browser, port: relay.httpPort))
            #expect(browser.complaints.filter { !$0.contains("favicon.ico") } == [])
        }

        /// Clicks at a point of the upright picture, and compares where the window got it.
        @Test("a person who controls the screen speaks to its microphone, until a second click")
        func speaks() async throws {
            // PipeWire runs only on the Wayland desktops of the tests.
            try await withPage(.sway, ["--microphone"]) { place in
                try await place.open("speech")
                try place.begin()
                let button =
                    "[...document.querySelectorAll('.control-bar button')].find((node) => node.textContent === 'Speak')"
                try place.browser.wait(until: "\(button)?.disabled === false")
                let file = place.desktop.directory.appendingPathComponent("home/recorded.wav")
                let recorder = place.desktop.process(
                    "pw-record",
                    ["--target", "heliograph-microphone-default", "--channels", "1", file.path]
                )
                try Programs.start(recorder)
                _ = try place.browser.evaluate("\(button).click()")
                try place.browser.wait(
                    until: "document.querySelector('.control-bar').textContent.includes('The desktop hears')"
                )
                try await Task.sleep(for: .seconds(4))
                _ = try place.browser.evaluate("\(button).click()")
                try place.browser.wait(until: "\(button).getAttribute('aria-pressed') === 'false'")
                // Control goes on.
                #expect(try place.browser.evaluate(Self.isControlling) as? Bool == true)
                recorder.interrupt()
                recorder.waitUntilExit()
                let samples = try FFmpeg.decodeSound(of: file.path)
                let beeps = samples.count { abs($0) > 0.02 }
                #expect(beeps > 4800 && samples.count > 3 * 48_000, "\(beeps) of \(samples.count)")
            }
        }

        private func expectClick(
            _ place: Place,
            _ point: (u: Double, v: Double),
            fit: PictureFit,
            window: (width: Double, height: Double)
        ) async throws {
            let mark = try place.mark()
            let (u, v) = try place.click(point.u, point.v)
            let expected = (
                x: (u - Double(fit.x)) / Double(fit.content.width) * window.width,
                y: (v - Double(fit.y)) / Double(fit.content.height) * window.height
            )
            let events = try await place.events(after: mark, until: "the click at \(point)") {
                $0.contains { $0.name == "button" && $0.fields[1] == "up" }
            }
            let buttons = events.filter { $0.name == "button" }
            #expect(buttons.map { Array($0.fields.prefix(2)) } == [["272", "down"], ["272", "up"]], "\(events)")
            let found = try #require(buttons.first?.place)
            #expect(
                abs(found.x - expected.x) <= 1 && abs(found.y - expected.y) <= 1,
                "\(point): expected \(expected), found \(found)"
            )
        }

        @Test("the click that begins is not sent; others come where the picture shows them", arguments: Self.screens)
        func clicks(screen: Screen) async throws {
            try await withPage(screen) { place in
                var random = SeededGenerator(seed: 3)
                let window = (width: Double(Self.source.width), height: Double(Self.source.height))
                // As large as the screen, smaller, and letterboxed.
                for size in [Self.source, PictureSize(width: 640, height: 360), PictureSize(width: 600, height: 600)] {
                    let settings = "{ width: \(size.width), height: \(size.height) }"
                    try await place.open("of-\(size)", settings)
                    let fit = PictureFit(source: Self.source, output: size)
                    let mark = try place.mark()
                    try place.begin()
                    for _ in 0..<6 {
                        let u = Double.random(in: 1...(Double(fit.content.width) - 2), using: &random)
                        let v = Double.random(in: 1...(Double(fit.content.height) - 2), using: &random)
                        let point = (u: Double(fit.x) + u, v: Double(fit.y) + v)
                        try await expectClick(place, point, fit: fit, window: window)
                    }
                    #expect(try place.desktop.inputEvents().dropFirst(mark).count { $0.name == "button" } == 12)
                    if fit.y > 20 {
                        // On the border nothing is pressed. A drag that leaves the screen ends at its edge.
                        let before = try place.mark()
                        try place.click(300, 5)
                        let (from, _) = try place.point(300, 300)
                        let (to, picture) = try place.point(400, 5)
                        try place.browser.moveMouse(x: from.x, y: from.y)
                        try place.browser.mouse(isDown: true, x: from.x, y: from.y)
                        try place.browser.moveMouse(x: to.x, y: to.y, buttons: 1)
                        try place.browser.mouse(isDown: false, x: to.x, y: to.y)
                        let events = try await place.events(after: before, until: "the drag") {
                            $0.contains { $0.name == "button" && $0.fields[1] == "up" }
                        }
                        let buttons = events.filter { $0.name == "button" }
                        #expect(buttons.count == 2, "\(events)")
                        let end = try #require(buttons.last?.place)
                        let x = picture.u / 600 * window.width
                        #expect(abs(end.x - x) <= 1.5 && end.y < 1, "\(events)")
                    }
                    try place.browser.moveMouse(x: 2, y: 2)
                    _ = try place.browser.evaluate(Self.stop)
                    try place.browser.wait(until: "!(\(Self.isControlling))")
                }
            }
        }

        @Test("clicks come where the picture shows them on a screen that is turned")
        func turned() async throws {
            try await withPage(.sway) { place in
                for transform in ["90", "180", "270"] {
                    let turns = (Int(transform) ?? 0) / 90
                    let size =
                        turns % 2 == 0 ? Self.source : PictureSize(width: Self.source.height, height: Self.source.width)
                    let before = try place.mark()
                    try place.desktop.turn(transform)
                    try await place.events(after: before, until: "the other size") {
                        $0.contains { $0.name == "ready" && $0.fields == ["\(size.width)", "\(size.height)"] }
                            || turns == 2
                    }
                    try await place.open("turned")
                    try place.browser.wait(
                        until:
                            "(({ width, height }) => width === \(size.width) && height === \(size.height))(document.querySelector('canvas.picture'))"
                    )
                    try place.begin()
                    let fit = PictureFit(source: size, output: size)
                    for (u, v) in [(100.0, 80.0), (Double(size.width) - 40, 300), (350, Double(size.height) - 30)] {
                        let window = (width: Double(size.width), height: Double(size.height))
                        try await expectClick(place, (u, v), fit: fit, window: window)
                    }
                    _ = try place.browser.evaluate(Self.stop)
                    try place.browser.wait(until: "!(\(Self.isControlling))")
                }
            }
        }

        @Test(
            "keys, text of an input method, the wheel and keys of the bar arrive; Escape held stops",
            arguments: Self.screens
        )
        func keys(screen: Screen) async throws {
            try await withPage(screen) { place in
                try await place.open("keys")
                // The page's own shortcuts work before and after, not meanwhile.
                try place.begin()
                var mark = try place.mark()
                for (key, code) in [("h", "KeyH"), ("i", "KeyI"), ("s", "KeyS")] {
                    try place.browser.key(key, code: code, isDown: true)
                    try place.browser.key(key, code: code, isDown: true, repeats: true)
                    try place.browser.key(key, code: code, isDown: false)
                }
                var events = try await place.events(after: mark, until: "three keys") {
                    $0.contains { $0.name == "key" && $0.fields.starts(with: ["s", "up"]) }
                }
                let downs = events.filter { $0.name == "key" && $0.fields[1] == "down" }
                #expect(downs.map(\.text).joined() == "his", "\(events)")

                mark = try place.mark()
                try place.browser.key("Control", code: "ControlLeft", isDown: true)
                try place.press("a", code: "KeyA")
                try place.browser.key("Control", code: "ControlLeft", isDown: false)
                try await place.events(after: mark, until: "Ctrl+A") {
                    $0.contains { $0.name == "key" && $0.fields.starts(with: ["a", "down", "ctrl"]) }
                }

                mark = try place.mark()
                try place.browser.insert("Grüße, 日本語")
                try await place.events(after: mark, until: "the text") {
                    $0.map(\.text).joined() == "Grüße, 日本語"
                }

                mark = try place.mark()
                let middle = try place.point(640, 360).page
                try place.browser.turnWheel(x: middle.x, y: middle.y, dy: 120)
                try await place.events(after: mark, until: "the wheel") { $0.contains { $0.name == "wheel" } }

                mark = try place.mark()
                _ = try place.browser.evaluate(
                    "[...document.querySelectorAll('.control-bar button')].find((b) => b.textContent === 'Ctrl+W').click()"
                )
                try await place.events(after: mark, until: "Ctrl+W") {
                    $0.contains { $0.name == "key" && $0.fields.starts(with: ["w", "down", "ctrl"]) }
                }
                try await place.isGone("w", after: mark)

                mark = try place.mark()
                try place.browser.key("b", code: "KeyB", isDown: true)
                try place.browser.key("Escape", code: "Escape", isDown: true)
                try await Task.sleep(for: .milliseconds(500))
                #expect(try place.browser.evaluate(Self.isControlling) as? Bool == true, "half a second is too short")
                try place.browser.wait(until: "!(\(Self.isControlling))")
                try await place.isGone("b", after: mark)
                try await place.isGone("Escape", after: mark)
                // A repeat of the key that is still held does not leave the page's view.
                try place.browser.key("Escape", code: "Escape", isDown: true, repeats: true)
                try place.browser.key("Escape", code: "Escape", isDown: false)
                #expect(try place.browser.evaluate("location.hash.startsWith('#/devices/')") as? Bool == true)
                events = try await place.events(after: mark, until: "Escape") { _ in true }
                #expect(
                    events.count { $0.name == "key" && $0.fields.starts(with: ["Escape", "down"]) } == 1,
                    "\(events)"
                )
            }
        }

        @Test("what is held is released when the page loses the focus, and when it closes", arguments: Self.screens)
        func release(screen: Screen) async throws {
            try await withPage(screen) { place in
                try await place.open("held")
                try place.begin()
                var mark = try place.mark()
                let point = try place.point(640, 400).page
                try place.browser.key("a", code: "KeyA", isDown: true)
                try place.browser.moveMouse(x: point.x, y: point.y)
                try place.browser.mouse(isDown: true, x: point.x, y: point.y)
                try await place.events(after: mark, until: "a button and a key") {
                    $0.contains { $0.name == "button" } && $0.contains { $0.name == "key" }
                }
                // They stay down as long as they are held.
                try await Task.sleep(for: .seconds(3))
                let held = try place.desktop.inputEvents().dropFirst(mark)
                #expect(!held.contains { ["key", "button"].contains($0.name) && $0.fields[1] == "up" }, "\(held)")
                _ = try place.browser.evaluate("window.dispatchEvent(new Event('blur'))")
                try await place.isGone("a", after: mark)
                try await place.events(after: mark, until: "the button's release") {
                    $0.contains { $0.name == "button" && $0.fields[1] == "up" }
                }
                #expect(try place.browser.evaluate(Self.isControlling) as? Bool == false)
                try place.browser.mouse(isDown: false, x: point.x, y: point.y)

                try place.begin()
                mark = try place.mark()
                try place.browser.key("b", code: "KeyB", isDown: true)
                try await place.events(after: mark, until: "a key") { $0.contains { $0.name == "key" } }
                try place.browser.open("about:blank")
                try await place.isGone("b", after: mark)
            }
        }

        @Test("an embedded player acts if it was asked to, and others do not; a second viewer is told who controls")
        func embedded() async throws {
            try await withPage(.xvfb) { place in
                let players = """
                    import("/page/heliograph.js").then(async ({ Player, Relay }) => {
                      const relay = new Relay("/");
                      const { id } = await relay.device().session("shared").put();
                      const add = (isAsked) => {
                        const canvas = document.createElement("canvas");
                        canvas.toggleAttribute("data-control", isAsked);
                        document.body.append(canvas);
                        return new Player(canvas, relay.session(id));
                      };
                      document.body.textContent = "";
                      Object.assign(window, { player: add(true), other: add(false) });
                      other.addEventListener("event", ({ detail }) => {
                        if (detail.type === "control") window.told = detail;
                      });
                    })
                    """
                _ = try place.browser.evaluate(players, seconds: 20)
                try place.browser.wait(until: "player.state === 'playing' && player.control.isPossible")
                let canvas = "(({ left, top }) => [left, top])(player.canvas.getBoundingClientRect())"
                let corner = try #require(try place.browser.evaluate(canvas) as? [NSNumber]).map(\.doubleValue)
                #expect(try place.browser.evaluate("other.control === undefined") as? Bool == true)
                let mark = try place.mark()
                try place.browser.click(x: corner[0] + 20, y: corner[1] + 30)
                try place.browser.wait(until: "player.control.state === 'on'")
                try place.browser.wait(until: "told.controller === 'person' && !told.mine")
                try place.browser.wait(until: "document.body.textContent.includes('Hold Esc')")
                try place.browser.click(x: corner[0] + 200, y: corner[1] + 100)
                let events = try await place.events(after: mark, until: "one click") {
                    $0.contains { $0.name == "button" && $0.fields[1] == "up" }
                }
                #expect(events.count { $0.name == "button" } == 2, "\(events)")
                let found = try #require(events.last { $0.name == "button" }?.place)
                #expect(abs(found.x - 200) <= 1 && abs(found.y - 100) <= 1, "\(found)")
                _ = try place.browser.evaluate("player.close()")
                try place.browser.wait(until: "told.controller === null")
                #expect(try place.browser.evaluate("document.querySelector('textarea') === null") as? Bool == true)
            }
        }
    }
}
