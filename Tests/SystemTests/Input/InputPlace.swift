import Foundation
import Media
import TestSupport

extension SystemTests {
    /// A desktop with the logging client, and a relay that broadcasts it. Calls come from the desktop's user, whom
    /// the relay lets act without a key.
    struct InputPlace {
        static let source = PictureSize(width: 1280, height: 720)

        let desktop: Desktop
        let relay: RelayProcess

        /// Calls the device's actions.
        func call(_ method: String = "POST", _ body: RelayProcess.Object? = nil) throws -> RelayAnswer {
            try desktop.callActions(method, body, of: relay)
        }

        /// Acts, and expects that it is done.
        @discardableResult
        func act(_ body: RelayProcess.Object) throws -> RelayProcess.Object {
            let answer = try call("POST", body)
            guard answer.status == 200 else { throw NeverCame(description: "\(body): \(answer)") }
            return answer.body
        }

        /// Runs a program in the desktop, as its user.
        func run(_ program: String, _ arguments: [String]) throws -> Programs.Outcome {
            try Programs.run(
                Programs.desktop,
                ["exec", desktop.directory.path, program] + arguments,
                environment: ["HELIOGRAPH_RELAY": "http://127.0.0.1:\(relay.httpPort)"],
                directory: desktop.directory
            )
        }

        /// The number of events so far.
        func mark() throws -> Int { try desktop.inputEvents().count }

        /// Waits until an event after the first `mark` ones fulfils a condition, and returns all after them.
        @discardableResult
        func events(
            after mark: Int,
            until what: String,
            limit: Duration = .seconds(5),
            _ condition: ([InputEvent]) -> Bool
        ) async throws -> [InputEvent] {
            var last: [InputEvent] = []
            do {
                return try await eventually(what, limit: limit) {
                    last = Array(try desktop.inputEvents().dropFirst(mark))
                    return condition(last) ? last : nil
                }
            } catch let error as NeverCame {
                throw NeverCame(description: "\(error.description); it had \(last.suffix(40))")
            }
        }

        /// The keys, buttons and fingers that are down by now.
        func held() throws -> Set<String> {
            var held: Set<String> = []
            for event in try desktop.inputEvents() {
                // A window without the keyboard has no keys.
                if event.name == "focus", event.fields == ["out"] { held = held.filter { !$0.hasPrefix("key") } }
                guard event.fields.count > 1 else { continue }
                let thing = "\(event.name) \(event.fields[0].lowercased())"
                switch (event.name, event.fields[1]) {
                case ("key", "down"), ("button", "down"), ("touch", "down"): held.insert(thing)
                case ("key", "up"), ("button", "up"), ("touch", "up"), ("touch", "cancel"): held.remove(thing)
                default: break
                }
            }
            return held
        }

        func eventuallyNothingIsHeld(
            after cause: String = "the end of actions",
            limit: Duration = .seconds(5)
        ) async throws {
            var held: Set<String> = []
            do {
                _ = try await eventually("nothing is held", limit: limit) {
                    held = try self.held()
                    return held.isEmpty ? true : nil
                }
            } catch is NeverCame {
                let events = try desktop.inputEvents().suffix(20)
                throw NeverCame(description: "after \(cause), \(held) are still held: \(Array(events))")
            }
        }

        /// Runs `body` on a desktop that is captured.
        ///
        /// - Parameter application: The name of an application that is another logging client, with a log of that name.
        static func with(
            _ screen: Screen,
            application: String? = nil,
            _ body: (InputPlace) async throws -> Void
        ) async throws {
            let desktop = try Desktop(screen.compositor, size: source.description, client: false)
            defer { desktop.end() }
            try desktop.startInputLog()
            let client = desktop.directory.appendingPathComponent("bin/input-log-wayland").path
            let run = desktop.directory.appendingPathComponent("run").path
            let applications = application.map { "{\($0): {command: [sh, -c, 'exec \(client) >\(run)/\($0).log']}}" }
            let relay = try await RelayProcess(
                in: desktop,
                arguments: ["--source", screen.source],
                environment: applications.map { ["HELIOGRAPH_RELAY_APPLICATIONS": $0] } ?? [:]
            )
            defer { relay.terminate() }
            try await relay.post("/v1/devices/default/broadcast/start", ["timeout": 60])
            _ = try await eventually("what the agent can do") {
                let input = try await relay.get("/v1/devices/default/broadcast").object("input")
                return input.string("backend") == screen.backend ? true : nil
            }
            try await body(InputPlace(desktop: desktop, relay: relay))
        }
    }
}
