import Access
import Foundation
import HeliographAPI
import Media
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

/// A relay with the devices `left` and `right`, each with a session and a recording of it, and keys for them.
struct TwoDevices {
    let relay: RunningRelay
    let keys: Keys
    /// A key of all devices.
    let all: APIKey
    /// An operator's key of the device `left`.
    let left: APIKey
    let sessions: [String: SessionID]
    let items: [String: Int]

    func get(_ path: String, _ key: APIKey) async throws -> RunningRelay.Answer {
        try await relay.call(.GET, path, key: key)
    }

    func post(_ path: String, _ key: APIKey, _ body: JSONValue = [:]) async throws -> RunningRelay.Answer {
        try await relay.call(.POST, path, key: key, body: Array(body.text.utf8))
    }

    static func run(
        log: LogRecorder? = nil,
        _ body: @escaping @Sendable (TwoDevices) async throws -> Void
    ) async throws {
        let (keys, scratch) = (try Keys(), try Scratch())
        let all = try keys.make("all", .operator)
        let left = try keys.make("left", .operator, devices: ["left"])
        let (file, folder) = (keys.file.path, scratch.file("library").path)
        let source = try SourceStream(SourceSettings(name: "x264", keyframes: [0, 20], pictures: 60))
        try await RunningRelay.run(log: log) {
            $0.devices = ["left", "right"].map { name in
                var device = DeviceConfiguration(name: name)
                device.source = SourceRequest(kind: .testPattern)
                device.agentExecutable = "/nonexistent/capture-agent"
                device.isOnDemand = true
                return device
            }
            ($0.keysFile, $0.library) = (file, folder)
        } _: { relay in
            var (sessions, items): ([String: SessionID], [String: Int]) = ([:], [:])
            for device in ["left", "right"] {
                let body = "{\"device\":\"\(device)\",\"record\":true}"
                let started = try await relay.call(.POST, "/v1/sessions", key: all, body: Array(body.utf8))
                guard case .integer(let id)? = started.json["id"] else { throw NeverCame(description: "a session") }
                sessions[device] = SessionID(id)
                let link = try await LinkClient(greeting: relay, device: device)
                let units = source.accessUnits.enumerated().map { index, bytes in
                    var unit = SampleStream.accessUnit(index, key: source.keyframes.contains(index))
                    unit.bytes = bytes
                    return unit
                }
                try await link.send(units, session: SessionID(id))
                items[device] = try await eventually("a recording of \(device)") {
                    let page = try await relay.call(.GET, "/v1/library?device=\(device)", key: all).json
                    guard case .array(let found)? = page["items"], let item = found.first, item["bytes"] != 0,
                        case .integer(let id)? = item["id"]
                    else { return nil }
                    return id
                }
                let stopped = try await relay.call(.POST, "/v1/sessions/\(id)/record/stop", key: all)
                #expect(stopped.status == 200, "\(stopped.text)")
            }
            try await body(
                TwoDevices(relay: relay, keys: keys, all: all, left: left, sessions: sessions, items: items)
            )
        }
        withExtendedLifetime(scratch) {}
    }

    /// Returns the path of a call about a device, or about its session or its item.
    func path(of route: Route, on device: String) -> String {
        route.path(session: sessions[device] ?? 0)
            .replacing("{device}", with: device)
            .replacing("{item}", with: "\(items[device] ?? 0)")
            .replacing("{name}", with: "shared")
            .replacing("{playlist}", with: "none")
            .replacing("{key}", with: "none")
            .replacing("{application}", with: "none")
            .replacing("{file}", with: "app.js")
    }

    /// Makes a call that can have no effect, because it has an argument that no call knows.
    func tryOut(_ route: Route, _ method: HTTPMethod, on device: String) async throws -> RunningRelay.Answer {
        let path = path(of: route, on: device)
        let takesDevice = route.arguments.fields.contains { $0.name == "device" }
        guard takesDevice, route.place == .body else {
            let query = takesDevice ? "?device=\(device)&nonsense=1" : "?nonsense=1"
            return try await relay.call(method, path + query, key: left)
        }
        let body = "{\"device\":\"\(device)\",\"nonsense\":1}"
        return try await relay.call(method, path, key: left, body: Array(body.utf8))
    }
}
