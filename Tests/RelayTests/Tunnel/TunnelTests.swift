import Access
import Foundation
import HeliographAPI
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

/// Programs in the place of cloudflared: what it logs, and how it ends, are all that the relay knows of it.
@Suite("A tunnel", .serialized)
struct TunnelTests {
    private static let address = "https://calm-otter.trycloudflare.com"
    /// What a good cloudflared does once it is connected.
    private static let good = """
        echo "INF |  \(address)  |" >&2
        echo "INF Registered tunnel connection connIndex=0" >&2
        exec sleep 1000
        """

    private let keys: Keys
    private let scratch: Scratch

    init() throws { (keys, scratch) = (try Keys(), try Scratch()) }

    /// Writes a program that first notes its arguments and its process, and returns its path.
    private func program(_ script: String) throws -> String {
        let text = """
            #!/bin/sh
            echo "$@" >> "\(scratch.file("arguments").path)"
            echo $$ >> "\(scratch.file("processes").path)"
            \(script)
            """
        return try scratch.program(text, named: "cloudflared")
    }

    /// What the program has noted.
    private struct Notes: Sendable {
        let folder: URL

        /// The lines of a file.
        func lines(_ name: String) -> [String] {
            let text = (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map(String.init)
        }
    }

    private var notes: Notes { Notes(folder: scratch.folder) }

    /// Runs a relay with a tunnel.
    ///
    /// - Parameters:
    ///   - body: Gets the relay, the relay at the tunnel's port, and a key.
    private func run(
        _ executable: String,
        _ choice: String = "quick",
        requiresPairing: Bool = false,
        _ body: @escaping @Sendable (RunningRelay, APIKey) async throws -> Void
    ) async throws {
        let key = try keys.make("ci", .operator)
        let tunnel = try #require(TunnelChoice(choice))
        try await RunningRelay.run {
            $0.keysFile = keys.file.path
            $0.requiresPairing = requiresPairing
            ($0.tunnel, $0.tunnelExecutable) = (tunnel, executable)
            $0.tunnelBackoff = RestartBackoff.Policy(first: .milliseconds(10), longest: .milliseconds(50))
        } _: { relay in
            try await body(relay, key)
        }
        // Nothing is left running.
        for process in notes.lines("processes") {
            let pid = try #require(pid_t(process))
            _ = try await eventually("the end of process \(pid)") { Self.runs(pid) ? nil : true }
        }
    }

    /// Whether a process runs: a zombie does not.
    private static func runs(_ process: pid_t) -> Bool {
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return !stat.contains(") Z ")
    }

    private static func tunnel(_ relay: RunningRelay, _ key: APIKey) async throws -> JSONValue {
        try await relay.call(.GET, "/v1/auth", key: key).json["tunnel"] ?? .null
    }

    /// Waits until the tunnel is in a state, and returns its report.
    @discardableResult
    private static func wait(for state: String, _ relay: RunningRelay, _ key: APIKey) async throws -> JSONValue {
        try await eventually("a tunnel that is \(state)") { () -> JSONValue? in
            let tunnel = try await Self.tunnel(relay, key)
            return tunnel["state"] == .string(state) ? .some(tunnel) : .none
        }
    }

    /// Returns the relay as callers reach it through the tunnel, whose program has been started.
    private static func outside(_ relay: RunningRelay, _ notes: Notes) async throws -> RunningRelay {
        let port = try await eventually("the tunnel's port") { () -> Int? in
            let words = notes.lines("arguments").last?.split(separator: " ") ?? []
            return words.first { $0.hasPrefix("http://127.0.0.1:") }?.split(separator: ":").last.flatMap { Int($0) }
        }
        #expect(port != relay.ports.http)
        return relay.tunnelled(port: port)
    }

    @Test("tells its address once it stands, and asks for a key at every call of the API from the first byte on")
    func good() async throws {
        let notes = notes
        try await run(try program(Self.good)) { relay, key in
            // The port is open before cloudflared is started.
            let outside = try await Self.outside(relay, notes)
            var refused = 0
            for route in Routes.all.flatMap(\.addresses) where route.tag != .page || route.path == "/openapi.json" {
                let path = route.path.replacing("{device}", with: "default").replacing("{", with: "").replacing(
                    "}",
                    with: ""
                )
                let answer = try await outside.call(HTTPMethod(rawValue: route.method.rawValue), path)
                guard !path.hasSuffix("/auth/login"), !path.hasSuffix("/auth/logout") else { continue }
                #expect(answer.code == "missing_key", "\(route.method.rawValue) \(path): \(answer.text)")
                refused += 1
            }
            #expect(refused > 100, "\(refused)")
            #expect(try await outside.get("/").status == 200, "the page, which asks for a key")
            #expect(try await outside.get("/livez").status == 401)
            #expect(try await relay.get("/livez").status == 200)
            let up = try await Self.wait(for: "up", outside, key)
            #expect(up["address"] == .string(Self.address) && up["problem"] == .null)
            let events = try await relay.call(.GET, "/v1/events?types=tunnel&follow=false", key: key).text
            let told = events.split(separator: "\n").filter { $0.hasPrefix("data: ") }
            #expect(told.first?.contains(#""state":"connecting""#) == true, "\(events)")
            #expect(told.last?.contains(#""state":"up""#) == true, "\(events)")
            let login = try await outside.post("/auth/login", ["key": .string(key.text)])
            #expect(login.headers["set-cookie"].first?.contains("Secure") == true)
            let socket = try await WebSocketClient(outside, session: 1, headers: [:])
            #expect(socket.answer.hasPrefix("HTTP/1.1 401 "))
        }
        #expect(notes.lines("arguments").count == 1)
    }

    @Test("admits nobody while clients must pair, whatever address the caller says it has")
    func pairing() async throws {
        let notes = notes
        try await run(try program(Self.good), requiresPairing: true) { relay, key in
            let outside = try await Self.outside(relay, notes)
            for headers in [[], [("CF-Connecting-IP", "127.0.0.1x")], [("CF-Connecting-IP", "203.0.113.1")]] {
                let answer = try await outside.call(.GET, "/v1/auth", key: key, headers: headers)
                #expect(answer.code == "pairing_required", "\(answer.text)")
            }
            _ = try await relay.call(.POST, "/screencapture/start", key: key)
            let access = ["Authorization": "Bearer \(key.text)"]
            let socket = try await WebSocketClient(outside, session: 1, headers: access)
            #expect(socket.answer.hasPrefix("HTTP/1.1 401 "), "\(socket.answer)")
            let inside = try await WebSocketClient(relay, session: 1, headers: access)
            #expect(inside.answer.hasPrefix("HTTP/1.1 101 "), "\(inside.answer)")
        }
    }

    @Test("limits wrong keys by the address at its other end")
    func addresses() async throws {
        let notes = notes
        try await run(try program(Self.good)) { relay, key in
            let outside = try await Self.outside(relay, notes)
            func attempt(from address: String) async throws -> String? {
                try await outside.call(
                    .GET,
                    "/v1/auth",
                    key: .random(),
                    headers: [("CF-Connecting-IP", address)]
                ).code
            }
            var codes: [String?] = []
            for _ in 0..<12 { codes.append(try await attempt(from: "203.0.113.1")) }
            #expect(codes.first == "wrong_key" && codes.last == "too_many_failures")
            #expect(try await attempt(from: "203.0.113.2") == "wrong_key")
            #expect(try await attempt(from: "2001:db8::1") == "wrong_key")
            #expect(try await relay.call(.GET, "/v1/auth", key: .random()).code == "wrong_key")
            let headers = [("CF-Connecting-IP", "203.0.113.1")]
            #expect(try await outside.call(.GET, "/v1/auth", key: key, headers: headers).status == 200)
        }
    }

    @Test("is connecting while cloudflared is slow or silent")
    func slow() async throws {
        let notes = notes
        let go = scratch.file("go")
        let script = "while ! [ -e '\(go.path)' ]; do sleep 0.02; done\n\(Self.good)"
        try await run(try program(script)) { relay, key in
            _ = try await Self.outside(relay, notes)
            #expect(try await Self.tunnel(relay, key)["state"] == "connecting")
            try Data().write(to: go)
            try await Self.wait(for: "up", relay, key)
        }
    }

    @Test("is started again when cloudflared ends, and says why it did")
    func crashing() async throws {
        let notes = notes
        let script = """
            [ $(wc -l < '\(scratch.file("processes").path)') -gt 5 ] || { echo "ERR no \\"network\\"" >&2; exit 3; }
            \(Self.good)
            """
        try await run(try program(script)) { relay, key in
            let down = try await Self.wait(for: "down", relay, key)
            #expect(down["problem"]?.string?.hasPrefix("cloudflared ended with status 3: ERR no \"network\"") == true)
            try await Self.wait(for: "up", relay, key)
            let process = try #require(notes.lines("processes").last.flatMap { pid_t($0) })
            kill(process, SIGKILL)
            _ = try await eventually("another process") {
                notes.lines("processes").last.flatMap { pid_t($0) } != process ? true : nil
            }
            try await Self.wait(for: "up", relay, key)
        }
    }

    @Test("is connecting again when it has lost its connections")
    func lost() async throws {
        let lose = scratch.file("lose")
        let script = """
            echo "INF |  \(Self.address)  |" >&2
            echo "INF Registered tunnel connection connIndex=0" >&2
            echo "INF Registered tunnel connection connIndex=1" >&2
            echo "ERR Failed to dial https://evil.trycloudflare.com" >&2
            echo "INF Unregistered tunnel connection connIndex=0" >&2
            while ! [ -e '\(lose.path)' ]; do sleep 0.02; done
            echo "ERR Connection terminated connIndex=1" >&2
            exec sleep 1000
            """
        try await run(try program(script)) { relay, key in
            try await Self.wait(for: "up", relay, key)
            try Data().write(to: lose)
            #expect(try await Self.wait(for: "connecting", relay, key)["address"] == .string(Self.address))
        }
    }

    @Test("gets none of the relay's secrets")
    func environment() async throws {
        let notes = notes
        setenv("HELIOGRAPH_LINK_TOKEN", "not for cloudflared", 1)
        defer { unsetenv("HELIOGRAPH_LINK_TOKEN") }
        let script = "env > '\(scratch.file("environment").path)'\n\(Self.good)"
        try await run(try program(script)) { relay, key in
            try await Self.wait(for: "up", relay, key)
            let environment = notes.lines("environment")
            #expect(environment.contains { $0.hasPrefix("PATH=") })
            #expect(!environment.contains { $0.hasPrefix("HELIOGRAPH_") }, "\(environment)")
        }
    }

    @Test("ends with the relay, even if it takes no notice of SIGTERM")
    func stubborn() async throws {
        let script = """
            trap '' TERM
            echo "Registered tunnel connection connIndex=0" >&2
            while :; do sleep 1; done
            """
        try await run(try program(script)) { relay, key in
            try await Self.wait(for: "up", relay, key)
        }
    }

    @Test("is not confused by odd output")
    func odd() async throws {
        let notes = notes
        let script = """
            head -c 3000000 /dev/urandom >&2
            head -c 3000000 /dev/zero | tr '\\0' x >&2
            printf '\\n\\r\\n\\nPost "https://api.trycloudflare.com/tunnel"\\n' >&2
            \(Self.good)
            """
        try await run(try program(script)) { relay, key in
            _ = try await Self.outside(relay, notes)
            #expect(try await Self.wait(for: "up", relay, key)["address"] == .string(Self.address))
        }
    }

    @Test("says how to install cloudflared if it is missing")
    func missing() async throws {
        try await run("/nonexistent/cloudflared") { relay, key in
            let down = try await Self.wait(for: "down", relay, key)
            let problem = down["problem"]?.string ?? ""
            #expect(problem.contains("Install cloudflared from https://"), "\(problem)")
            #expect(try await relay.get("/livez").status == 200)
        }
    }

    @Test("of an account is run by its name")
    func named() async throws {
        let notes = notes
        try await run(try program(Self.good), "named:office") { relay, key in
            try await Self.wait(for: "up", relay, key)
            let arguments = notes.lines("arguments").first ?? ""
            #expect(
                arguments.hasPrefix("tunnel --no-autoupdate --config /dev/null --grace-period 2s run --url http://127.")
            )
            #expect(arguments.hasSuffix(" office"))
        }
    }

    @Test("is started, replaced and ended by an operator")
    func operated() async throws {
        let notes = notes
        try await run(try program(Self.good), "none") { relay, key in
            func set(_ tunnel: String) async throws -> RunningRelay.Answer {
                let body = JSONValue.object([.init(name: "tunnel", value: .string(tunnel))])
                return try await relay.call(.PUT, "/v1/tunnel", key: key, body: Array(body.text.utf8))
            }
            func isOff(_ answer: RunningRelay.Answer) -> Bool {
                answer.json["tunnel"] == "none" && answer.json["status"] == .null
            }
            #expect(isOff(try await relay.call(.GET, "/v1/tunnel", key: key)))
            #expect(try await set("fast").code == "unknown_value")
            #expect(isOff(try await set("none")) && notes.lines("processes").isEmpty)
            #expect(try await set("quick").json["status"]?["state"] == "connecting")
            let outside = try await Self.outside(relay, notes)
            try await Self.wait(for: "up", relay, key)
            #expect(try await set("quick").json["status"]?["state"] == "up", "it is the same")
            #expect(notes.lines("processes").count == 1)

            #expect(try await set("named:office").json["tunnel"] == "named:office")
            _ = try await eventually("the other program") { notes.lines("processes").count == 2 ? true : nil }
            try await Self.wait(for: "up", relay, key)
            let former = try #require(notes.lines("processes").first.flatMap { pid_t($0) })
            #expect(!Self.runs(former))
            await #expect(throws: (any Error).self) { try await ByteClient(port: outside.ports.http) }

            #expect(isOff(try await set("none")))
            #expect(try await Self.tunnel(relay, key) == .null)
            let latter = try #require(notes.lines("processes").last.flatMap { pid_t($0) })
            _ = try await eventually("its end") { Self.runs(latter) ? nil : true }
        }
        try await RunningRelay.run { relay in
            let answer = try await relay.call(.PUT, "/v1/tunnel", body: Array(#"{"tunnel": "quick"}"#.utf8))
            #expect(answer.status == 409 && answer.code == "no_keys", "\(answer.text)")
        }
    }

    @Test("ends with a relay that is killed")
    func killed() async throws {
        _ = try keys.make("ci", .operator)
        let relay = try await RelayProcess(arguments: [
            "--tunnel", "quick", "--tunnel-executable", try program(Self.good), "--keys-file", keys.file.path,
            "--library", "none", "--state-file", "none",
        ])
        let process = try await eventually("cloudflared") {
            notes.lines("processes").first.flatMap { pid_t($0) }
        }
        #expect(Self.runs(process))
        kill(relay.pid, SIGKILL)
        _ = try await eventually("the end of cloudflared") { Self.runs(process) ? nil : true }
    }

    @Test("is refused without keys", arguments: [nil, "keys"])
    func withoutKeys(file: String?) throws {
        var configuration = RelayConfiguration()
        configuration.tunnel = .quick
        configuration.keysFile = file
        #expect(throws: RelayStartError.tunnelWithoutKeys(keysFile: file)) {
            try configuration.validate(keyCount: nil)
        }
        #expect(throws: RelayStartError.tunnelWithoutKeys(keysFile: file)) { try configuration.validate(keyCount: 0) }
        try configuration.validate(keyCount: 1)
    }

    @Test(
        "takes no other choices",
        arguments: ["", "Quick", "named:", "named:a b", "named", "named:--x y", "named:-x", "office"]
    )
    func choices(text: String) {
        #expect(TunnelChoice(text) == nil)
    }
}
