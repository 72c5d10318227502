import Foundation
import Glibc

/// A headless Firefox with one page, driven by WebDriver BiDi.
///
/// Scripts of BiDi run in the page itself, also with a strict Content-Security-Policy. Those of Marionette do not: they
/// see the page's objects through wrappers.
package final class Firefox: Browser {
    /// How long an answer may take beyond the time that the page itself may wait.
    private static let patience = 60.0
    /// How long it may take to start: a new profile is slow on a busy machine.
    private static let startTime = 90.0

    /// Settings of the profile, as JSON. They keep the browser from calling its maker.
    private static let preferences = [
        "app.normandy.enabled": "false", "app.update.enabled": "false",
        "browser.safebrowsing.downloads.remote.enabled": "false", "browser.shell.checkDefaultBrowser": "false",
        "datareporting.policy.dataSubmissionEnabled": "false", "media.gmp-manager.updateEnabled": "false",
        "network.captive-portal-service.enabled": "false", "network.connectivity-service.enabled": "false",
        "toolkit.telemetry.enabled": "false",
    ]

    private let directory: URL
    private let process: Process
    private var socket: BrowserSocket
    private var lastID = 0
    private var context = ""
    package private(set) var complaints: [String] = []

    package static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/firefox-esr") }

    /// - Parameter environment: Variables for it besides this process's, such as those that say where sound is played.
    package init(environment: [String: String] = [:]) throws {
        let folder = URL(fileURLWithPath: "/tmp/heliograph-firefox-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let preferences = Firefox.preferences.map { "user_pref(\"\($0.key)\", \($0.value));\n" }.joined()
        try Data(preferences.utf8).write(to: folder.appendingPathComponent("user.js"))
        let browser = Process()
        browser.executableURL = URL(fileURLWithPath: "/usr/bin/firefox-esr")
        browser.arguments = [
            "--headless", "--no-remote", "--profile", folder.path, "--remote-debugging-port", "0", "about:blank",
        ]
        browser.environment = ProcessInfo.processInfo.environment.merging(["HOME": folder.path]) { $1 }
            .merging(environment) { $1 }
        browser.standardInput = FileHandle.nullDevice
        browser.standardOutput = FileHandle.nullDevice
        browser.standardError = FileHandle.nullDevice
        try Programs.start(browser)
        let connected: BrowserSocket
        do {
            connected = try Firefox.connect(to: browser, in: folder)
        } catch {
            browser.terminate()
            Firefox.finish(browser, in: folder)
            throw error
        }
        (directory, process, socket) = (folder, browser, connected)
        do {
            _ = try call("session.new", ["capabilities": ["alwaysMatch": ["acceptInsecureCerts": true]]])
            _ = try call("session.subscribe", ["events": ["log.entryAdded"]])
            let contexts = try call("browsingContext.getTree")["contexts"] as? [[String: Any]]
            context = contexts?.first?["context"] as? String ?? ""
        } catch {
            end()
            throw error
        }
    }

    /// Connects to a browser that starts. It writes its port into its profile.
    private static func connect(to browser: Process, in folder: URL) throws -> BrowserSocket {
        let deadline = Date(timeIntervalSinceNow: startTime)
        let file = folder.appendingPathComponent("WebDriverBiDiServer.json")
        while true {
            // The file may not be whole yet.
            if let data = try? Data(contentsOf: file),
                let server = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
                let port = (server["ws_port"] as? NSNumber)?.intValue
            {
                return try BrowserSocket(port: port, path: "/session", before: deadline)
            }
            guard browser.isRunning else {
                throw BrowserFailure(description: "firefox ended with status \(browser.terminationStatus)")
            }
            guard Date() < deadline else { throw BrowserFailure(description: "firefox does not start") }
            usleep(50_000)
        }
    }

    package func open(_ address: String) throws {
        // A series of pictures would keep the page from being complete.
        _ = try call("browsingContext.navigate", ["context": context, "url": address, "wait": "interactive"])
    }

    package func beforePages(run script: String) throws {
        _ = try call("script.addPreloadScript", ["functionDeclaration": "() => {\n\(script)\n}"])
    }

    package func evaluate(_ expression: String, seconds: Double) throws -> Any? {
        let answer = try call(
            "script.evaluate",
            [
                "expression": expression, "target": ["context": context], "awaitPromise": true,
                "resultOwnership": "none", "serializationOptions": ["maxDomDepth": 0],
            ],
            seconds: seconds
        )
        guard answer["type"] as? String == "success", let result = answer["result"] as? [String: Any] else {
            let details = answer["exceptionDetails"] as? [String: Any]
            throw BrowserFailure(description: "\(expression): \(details?["text"] ?? answer)")
        }
        return Self.value(result)
    }

    /// Returns what JSON would have for a value as BiDi describes it; `nil` for `null` and `undefined`.
    private static func value(_ remote: [String: Any]) -> Any? {
        let value = remote["value"]
        switch remote["type"] as? String {
        case "array":
            return (value as? [[String: Any]] ?? []).map { element -> Any in Self.value(element) ?? NSNull() }
        case "object":
            let pairs = (value as? [[Any]] ?? []).compactMap { pair -> (String, Any)? in
                guard let name = pair.first as? String, let field = pair.last as? [String: Any] else { return nil }
                return (name, Self.value(field) ?? NSNull())
            }
            return Dictionary(pairs) { $1 }
        case "number":
            // Numbers that JSON does not have come as words.
            if let word = value as? String { return Double(word) }
            return value
        case "string", "boolean": return value
        default: return nil
        }
    }

    package func resize(width: Int, height: Int) throws {
        _ = try call(
            "browsingContext.setViewport",
            ["context": context, "viewport": ["width": width, "height": height]]
        )
    }

    // MARK: - A person's input

    package func moveMouse(x: Double, y: Double) throws { try perform([Self.move(x: x, y: y)]) }

    package func click(x: Double, y: Double) throws {
        try perform([
            Self.move(x: x, y: y), ["type": "pointerDown", "button": 0], ["type": "pointerUp", "button": 0],
        ])
    }

    private static func move(x: Double, y: Double) -> [String: Any] {
        ["type": "pointerMove", "x": Int(x.rounded()), "y": Int(y.rounded())]
    }

    private func perform(_ actions: [[String: Any]]) throws {
        let mouse: [String: Any] = [
            "type": "pointer", "id": "mouse", "parameters": ["pointerType": "mouse"], "actions": actions,
        ]
        _ = try call("input.performActions", ["context": context, "actions": [mouse]])
    }

    // MARK: - The connection

    package func end() {
        _ = try? call("browser.close")
        socket.close()
        Self.finish(process, in: directory)
    }

    /// Ends the browser if it has not ended, and removes what it has written.
    private static func finish(_ process: Process, in folder: URL) {
        let deadline = Date(timeIntervalSinceNow: 20)
        // It writes its profile before it ends.
        while process.isRunning && Date() < deadline { usleep(50_000) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    private func call(_ method: String, _ parameters: [String: Any] = [:], seconds: Double = 0) throws -> [String: Any]
    {
        lastID += 1
        let message: [String: Any] = ["id": lastID, "method": method, "params": parameters]
        socket.send(try JSONSerialization.data(withJSONObject: message))
        let deadline = Date(timeIntervalSinceNow: seconds + Self.patience)
        while true {
            let data: Data
            do {
                data = try socket.next(before: deadline)
            } catch {
                throw BrowserFailure(description: "\(method) \(parameters): \(error)")
            }
            let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
            if (answer["id"] as? NSNumber)?.intValue == lastID {
                guard answer["type"] as? String == "success" else {
                    let reasons = [answer["error"], answer["message"]].compactMap { $0 as? String }
                    throw BrowserFailure(description: "\(method): \(reasons.joined(separator: ": "))")
                }
                return answer["result"] as? [String: Any] ?? [:]
            }
            notice(answer)
        }
    }

    private func notice(_ event: [String: Any]) {
        guard event["method"] as? String == "log.entryAdded",
            let entry = event["params"] as? [String: Any], entry["level"] as? String == "error"
        else { return }
        complaints.append("\(entry["text"] ?? entry)")
    }
}
