import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("The wall", .serialized)
struct WallTests {
    @Test(
        "takes up to 256 ids, a width and an interval",
        arguments: [
            #"{"type":"show"}"#, #"{"type":"hide","sessions":[]}"#, #"{"type":"show","sessions":[-1]}"#,
            #"{"type":"show","sessions":["1"]}"#, #"{"type":"show","sessions":[1],"width":8}"#,
            #"{"type":"show","sessions":[1],"interval":0}"#, #"{"type":"show","sessions":[4294967296]}"#,
            "{\"type\":\"show\",\"sessions\":[\(Array(repeating: "1", count: 257).joined(separator: ","))]}", "[]",
        ]
    )
    func malformed(_ text: String) {
        #expect(throws: ClientMessage.Malformed.self) { try WallMessage(parsing: text) }
    }

    @Test("reads a whole message, and has defaults")
    func message() throws {
        let whole = try WallMessage(parsing: #"{"type":"show","sessions":[3,1],"width":640,"interval":0.5}"#)
        #expect(whole.sessions == [3, 1] && whole.width == 640 && whole.interval == .milliseconds(500))
        let least = try WallMessage(parsing: #"{"type":"show","sessions":[]}"#)
        #expect(least.sessions.isEmpty && least.width == 320 && least.interval == .seconds(2))
    }

    /// Answers the requests for snapshots with the bytes that `picture` returns, until the link ends.
    private static func answer(_ link: LinkClient, _ picture: @escaping @Sendable (SnapshotRequest) -> [UInt8]) -> Task<
        Void, any Error
    > {
        Task {
            while let packet = try await link.next() {
                guard case .snapshotRequest(let id, let request) = packet else { continue }
                let size = PictureSize(width: 320, height: 180)
                let outcome = Snapshot.Outcome.picture(
                    Snapshot.Picture(
                        format: .jpeg,
                        captured: 1,
                        orientation: 0,
                        size: size,
                        bytes: picture(request)
                    )
                )
                try await link.send(.snapshot(id, Snapshot(request: request.id, outcome: outcome)))
            }
        }
    }

    @Test("shows a session that is asleep and leaves it so, and sends a picture only if it differs")
    func asleep() async throws {
        try await RunningRelay.run { relay in
            let link = try await LinkClient(greeting: relay)
            let session = try await relay.startSession(["onDemand": true])
            let requests = Counter()
            let answering = Self.answer(link) { request in
                #expect(request.isFresh && request.side == 20 && request.format == .jpeg)
                // The first three are alike.
                return [UInt8(requests.next() / 3)]
            }
            defer { answering.cancel() }
            let wall = try await WebSocketClient(port: relay.ports.http, path: "/v1/wall")
            #expect(wall.wasUpgraded)
            try await wall.send(#"{"type":"show","sessions":[\#(session.id),999],"interval":0.5}"#)
            var pictures: [[UInt8]] = []
            while pictures.count < 2 {
                pictures.append(
                    try await wall.first("a picture") { $0.opcode == WebSocketClient.Opcode.binary ? $0.payload : nil }
                )
            }
            #expect(pictures == [[0, 0, 0, 1, 0], [0, 0, 0, 1, 1]], "\(session.id)")
            #expect(requests.count >= 4)
            #expect(try await relay.session(session.id)["asleep"] == true)
        }
    }

    @Test("says once that there is no picture, and tells events")
    func dark() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let wall = try await WebSocketClient(port: relay.ports.http, path: "/v1/wall")
            try await wall.send(#"{"type":"show","sessions":[\#(session.id)],"interval":0.5}"#)
            #expect(try await wall.event("dark")["session"] == .integer(Int(session.id)))
            let other = try await relay.startSession(["label": "door"])
            let event = try await wall.event("event")
            #expect(event["event"]?["type"] == "session.started")
            #expect(event["event"]?["session"] == .integer(Int(other.id)))
            try await wall.send(#"{"type":"show"}"#)
            #expect(try await wall.closeCode() == 1008)
        }
    }
}

/// Counts calls from any thread.
private final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    /// Returns how many calls there were before.
    func next() -> Int {
        value.withLock { value in
            defer { value += 1 }
            return value
        }
    }
}
