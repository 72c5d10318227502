import Foundation
import Glibc

/// A headless Chromium with one page, driven by the DevTools protocol over its pipe.
package final class Chromium: Browser {
    /// How long an answer may take beyond the time that the page itself may wait.
    private static let patience = 60.0

    private let directory: URL
    private let process = Process()
    private let toBrowser: FileHandle
    private let fromBrowser: FileHandle
    private var received = Data()
    private var lastID = 0
    private var session: String?
    /// The page's complaints: exceptions and console errors.
    package private(set) var complaints: [String] = []

    /// Whether there is one on this machine.
    package static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium") }

    /// - Parameter trusted: The SHA-256 of a public key, in base64. The browser accepts this key's certificate
    ///   from any issuer.
    package init(trusted: String? = nil) throws {
        directory = URL(fileURLWithPath: "/tmp/heliograph-chromium-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let folder = directory
        let pipes = ["in", "out"].map { folder.appendingPathComponent($0).path }
        // Opened for both, so that neither end waits for the other.
        let handles = try pipes.map { path in
            guard mkfifo(path, 0o600) == 0 else { throw BrowserFailure(description: "no pipe at \(path)") }
            return FileHandle(fileDescriptor: Glibc.open(path, O_RDWR | O_CLOEXEC), closeOnDealloc: true)
        }
        (toBrowser, fromBrowser) = (handles[0], handles[1])
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = [
            "-c", "exec chromium \"$@\" 3<'\(pipes[0])' 4>'\(pipes[1])' 2>/dev/null", "chromium",
            "--headless=new", "--disable-gpu", "--remote-debugging-pipe",
            "--user-data-dir=\(folder.path)/profile",
            // A microphone that beeps each second, and a person who allows it.
            "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
        ]
        if let trusted { process.arguments?.append("--ignore-certificate-errors-spki-list=\(trusted)") }
        process.arguments?.append("about:blank")
        // Its sandbox refuses to work for root, as which tests in containers run.
        if geteuid() == 0 { process.arguments?.insert("--no-sandbox", at: 3) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try Programs.start(process)
        let target = try call("Target.createTarget", ["url": "about:blank"])
        let attached = try call("Target.attachToTarget", ["targetId": target["targetId"] ?? "", "flatten": true])
        session = attached["sessionId"] as? String
        for domain in ["Page", "Runtime", "Log"] { _ = try call("\(domain).enable") }
    }

    package func open(_ address: String) throws { _ = try call("Page.navigate", ["url": address]) }

    /// Runs a script in each page that is opened from now on, before the page's own scripts.
    package func beforePages(run script: String) throws {
        _ = try call("Page.addScriptToEvaluateOnNewDocument", ["source": script])
    }

    /// Returns the value of a JavaScript expression. Waits for a promise for up to `seconds`.
    package func evaluate(_ expression: String, seconds: Double) throws -> Any? {
        let parameters: [String: Any] = ["expression": expression, "awaitPromise": true, "returnByValue": true]
        let answer = try call("Runtime.evaluate", parameters, seconds: seconds)
        if let details = answer["exceptionDetails"] { throw BrowserFailure(description: "\(expression): \(details)") }
        return (answer["result"] as? [String: Any])?["value"]
    }

    // MARK: - A person's input

    /// Lets the page believe that it has the focus, which a headless one seldom has.
    package func focus() throws { _ = try call("Emulation.setFocusEmulationEnabled", ["enabled": true]) }

    /// Sets the size of the page's window, in CSS pixels.
    package func resize(width: Int, height: Int) throws {
        let size: [String: Any] = ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": false]
        _ = try call("Emulation.setDeviceMetricsOverride", size)
    }

    /// Moves the mouse.
    ///
    /// - Parameter buttons: What is held, as in `MouseEvent.buttons`.
    package func moveMouse(x: Double, y: Double, buttons: Int = 0) throws {
        _ = try call("Input.dispatchMouseEvent", ["type": "mouseMoved", "x": x, "y": y, "buttons": buttons])
    }

    /// Presses a mouse button, or releases it.
    ///
    /// - Parameter button: `left`, `middle` or `right`.
    package func mouse(_ button: String = "left", isDown: Bool, x: Double, y: Double) throws {
        let bit = ["left": 1, "right": 2, "middle": 4][button] ?? 0
        _ = try call(
            "Input.dispatchMouseEvent",
            [
                "type": isDown ? "mousePressed" : "mouseReleased", "x": x, "y": y, "button": button, "clickCount": 1,
                "buttons": isDown ? bit : 0,
            ]
        )
    }

    package func click(x: Double, y: Double) throws {
        try moveMouse(x: x, y: y)
        try mouse(isDown: true, x: x, y: y)
        try mouse(isDown: false, x: x, y: y)
    }

    package func turnWheel(x: Double, y: Double, dy: Double) throws {
        let wheel: [String: Any] = ["type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": dy]
        _ = try call("Input.dispatchMouseEvent", wheel)
    }

    /// Presses a key, or releases it.
    ///
    /// - Parameters:
    ///   - key: As in `KeyboardEvent.key`.
    ///   - code: As in `KeyboardEvent.code`.
    package func key(_ key: String, code: String, isDown: Bool, repeats: Bool = false) throws {
        _ = try call(
            "Input.dispatchKeyEvent",
            ["type": isDown ? "rawKeyDown" : "keyUp", "key": key, "code": code, "autoRepeat": repeats]
        )
    }

    /// Enters a text as an input method does.
    package func insert(_ text: String) throws { _ = try call("Input.insertText", ["text": text]) }

    /// Ends the browser.
    package func end() {
        session = nil
        _ = try? call("Browser.close")
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: directory)
    }

    private func call(_ method: String, _ parameters: [String: Any] = [:], seconds: Double = 0) throws -> [String: Any]
    {
        lastID += 1
        var message: [String: Any] = ["id": lastID, "method": method, "params": parameters]
        message["sessionId"] = session
        try toBrowser.write(contentsOf: JSONSerialization.data(withJSONObject: message) + [0])
        let deadline = Date(timeIntervalSinceNow: seconds + Self.patience)
        while true {
            let message = try next(before: deadline)
            if message["id"] as? Int == lastID {
                if let error = message["error"] { throw BrowserFailure(description: "\(method): \(error)") }
                return message["result"] as? [String: Any] ?? [:]
            }
            notice(message)
        }
    }

    private func notice(_ message: [String: Any]) {
        let parameters = message["params"] as? [String: Any] ?? [:]
        switch message["method"] as? String {
        case "Runtime.exceptionThrown": complaints.append("\(parameters)")
        case "Log.entryAdded":
            let entry = parameters["entry"] as? [String: Any] ?? [:]
            if entry["level"] as? String == "error" { complaints.append("\(entry)") }
        default: break
        }
    }

    /// Returns the next message; each ends in a NUL.
    private func next(before deadline: Date) throws -> [String: Any] {
        while true {
            if let end = received.firstIndex(of: 0) {
                let message = received[..<end]
                received = Data(received[(end + 1)...])
                return try JSONSerialization.jsonObject(with: message) as? [String: Any] ?? [:]
            }
            var ready = pollfd(fd: fromBrowser.fileDescriptor, events: Int16(POLLIN), revents: 0)
            if poll(&ready, 1, 100) > 0 {
                received += fromBrowser.availableData
            } else if !process.isRunning {
                throw BrowserFailure(description: "chromium ended with status \(process.terminationStatus)")
            } else if Date() > deadline {
                throw BrowserFailure(description: "chromium does not answer")
            }
        }
    }
}
