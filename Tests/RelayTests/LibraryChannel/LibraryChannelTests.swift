import Access
import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("The library's channel", .serialized)
struct LibraryChannelTests {
    /// A client that has connected and not greeted.
    private static func connect(_ devices: TwoDevices, _ key: APIKey, to path: String = "/ws") async throws
        -> WebSocketClient
    {
        let headers = ["Authorization": "Bearer \(key.text)"]
        let client = try await WebSocketClient(port: devices.relay.ports.http, path: path, headers: headers)
        #expect(client.wasUpgraded, "\(client.answer)")
        return client
    }

    /// A client that has greeted, its id and the mark that it got.
    private static func greet(_ devices: TwoDevices, _ key: APIKey, _ name: String) async throws
        -> (client: WebSocketClient, id: JSONValue, mark: String)
    {
        let client = try await connect(devices, key)
        try await client.send(#"{"type":"hello","version":1,"name":"\#(name)"}"#)
        let hello = try await client.event("hello")
        #expect(hello["version"] == 1)
        return (client, try #require(hello["client"]), try #require(hello["mark"]?.string))
    }

    @Test("tells each client what the others play, but not items of devices that its key is not for")
    func playback() async throws {
        try await TwoDevices.run { devices in
            let (left, right) = (try #require(devices.items["left"]), try #require(devices.items["right"]))
            let (one, id, _) = try await Self.greet(devices, devices.all, "kitchen")
            let (two, _, _) = try await Self.greet(devices, devices.left, "desk")
            // It hears of those who came before.
            #expect(try await two.event("playbackState")["name"] == "kitchen")

            try await one.send(#"{"type":"next"}"#)
            #expect(try await one.event("error")["code"] == "nothing_to_play")
            try await one.send(#"{"type":"play","items":[\#(left),7]}"#)
            let unknown = try await one.event("error")
            #expect(unknown["code"] == "unknown_item" && unknown["command"] == "play")
            try await one.send(#"{"type":"play","items":[\#(left),\#(right)],"position":0.5}"#)
            let own = try await one.first("its own state") { frame in
                frame.json["client"] == id && frame.json["state"] == "playing" ? .some(frame.json) : .none
            }
            #expect(own["item"] == .integer(left) && own["next"] == .integer(right) && own["length"] == 2)
            #expect(own["key"] == "all" && own["volume"] == 1 && own["shuffle"] == false, "\(own.text)")
            let seen = try await two.first("the other's state") { frame in
                frame.json["client"] == id && frame.json["state"] == "playing" ? .some(frame.json) : .none
            }
            #expect(seen["item"] == .integer(left) && seen["next"] == .null, "\(seen.text)")

            try await one.send(#"{"type":"next"}"#)
            try await one.send(#"{"type":"setVolume","volume":0.5}"#)
            try await one.send(#"{"type":"pause"}"#)
            let hidden = try await two.first("the pause") { frame in
                frame.json["state"] == "paused" ? .some(frame.json) : .none
            }
            #expect(hidden["item"] == .null && hidden["place"] == 1, "\(hidden.text)")
            #expect(hidden["volume"] == .number(0.5))
            let listed = try await devices.get("/v1/library/clients", devices.left).json["clients"]
            guard case .array(let clients)? = listed else { throw NeverCame(description: "the clients") }
            #expect(clients.map { $0["name"] } == ["kitchen", "desk"])
            #expect(clients.first?["state"] == "paused" && clients.first?["item"] == .null)

            // Its key does not reach the other device.
            try await two.send(#"{"type":"play","items":[\#(right)]}"#)
            #expect(try await two.event("error")["code"] == "unknown_item")
            try await one.close()
            #expect(try await two.event("clientLeft")["client"] == id)
        }
    }

    @Test("tells what is removed and added, and that the catalogue has changed, by device")
    func changes() async throws {
        try await TwoDevices.run { devices in
            let (left, right) = (try #require(devices.items["left"]), try #require(devices.items["right"]))
            let (client, _, mark) = try await Self.greet(devices, devices.left, "desk")
            func delete(_ item: Int) async throws {
                #expect(try await devices.relay.call(.DELETE, "/v1/library/\(item)", key: devices.all).status == 200)
            }
            try await delete(right)
            let first = try await client.first("dbReady, and nothing before it") { frame in
                frame.opcode == WebSocketClient.Opcode.text ? .some(frame.json) : .none
            }
            #expect(first["type"] == "dbReady", "\(first.text)")
            try await delete(left)
            #expect(try await client.event("recordingRemoved")["item"] == .integer(left))
            let after = try await client.event("dbReady")["mark"]?.string
            let changes = try await devices.get("/v1/library/changes?since=\(mark)", devices.left).json
            #expect(changes["removed"] == .array([.integer(left)]) && changes["mark"]?.string == after)

            #expect(try await devices.post("/v1/library/\(left)/restore", devices.all).status == 200)
            let added = try await client.event("recordingAdded")["item"]
            #expect(added?["id"] == .integer(left) && added?["device"] == "left")
            let settled = try await client.event("dbReady")
            try await client.send(#"{"type":"refreshDB"}"#)
            #expect(try await client.event("dbReady") == settled)
        }
    }

    @Test("refuses other versions with the reason, malformed messages, and callers without a key or the right")
    func refusals() async throws {
        try await TwoDevices.run { devices in
            for path in ["/ws", "/v1/library/ws"] {
                let stranger = try await WebSocketClient(port: devices.relay.ports.http, path: path)
                #expect(stranger.answer.hasPrefix("HTTP/1.1 401 "), "\(stranger.answer)")
            }
            let blind = try devices.keys.make("blind", .viewer, library: [])
            let headers = ["Authorization": "Bearer \(blind.text)"]
            let refused = try await WebSocketClient(port: devices.relay.ports.http, path: "/ws", headers: headers)
            #expect(refused.answer.hasPrefix("HTTP/1.1 403 "), "\(refused.answer)")
            #expect(try await devices.get("/ws", devices.all).code == "upgrade_required")

            let old = try await Self.connect(devices, devices.all, to: "/v1/library/ws")
            try await old.send(#"{"type":"hello","version":2}"#)
            let error = try await old.event("error")
            #expect(error["code"] == "other_version" && error["detail"]?.string?.contains("version 1") == true)
            #expect(try await old.closeCode() == 4002)

            for messages in [
                [#"{"type":"next"}"#], ["x"], [#"{"type":"hello","version":1}"#, #"{"type":"hello","version":1}"#],
            ] {
                let client = try await Self.connect(devices, devices.all)
                for message in messages { try await client.send(message) }
                #expect(try await client.closeCode() == 1008, "\(messages)")
            }
            let client = try await Self.connect(devices, devices.all)
            try await client.send(WebSocketClient.Opcode.binary, [1])
            #expect(try await client.closeCode() == 1008)

            let (known, _, _) = try await Self.greet(devices, devices.all, "desk")
            try await known.send(#"{"type":"dance"}"#)
            #expect(try await known.event("error")["code"] == "unknown_command")
        }
    }

    @Test("ends when its key is revoked")
    func revoked() async throws {
        try await TwoDevices.run { devices in
            let guest = try devices.keys.make("guest", .viewer)
            let (client, _, _) = try await Self.greet(devices, guest, "guest")
            try devices.keys.revoke("guest")
            #expect(try await client.lastFrame()?.opcode != WebSocketClient.Opcode.text)
            _ = try await eventually("the client is gone") {
                try await devices.get("/v1/library/clients", devices.all).json["clients"] == [] ? true : nil
            }
        }
    }
}
