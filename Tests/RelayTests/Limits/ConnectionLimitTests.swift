import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("Connections")
struct ConnectionLimitTests {
    private static let livez = RawRequest("GET /livez HTTP/1.1")

    /// Returns a connection that has been served, so that it counts.
    private static func open(_ relay: RunningRelay, from source: String) async throws -> ByteClient {
        let client = try await ByteClient(port: relay.ports.http, from: source)
        #expect(try await livez.ask(client)?.status == 200)
        return client
    }

    /// Sends requests on new connections until one is accepted.
    private static func waitForPlace(_ relay: RunningRelay, from source: String) async throws {
        _ = try await eventually("a place for \(source)") {
            let client = try await ByteClient(port: relay.ports.http, from: source)
            let answer = try? await livez.ask(client)
            try? await client.close()
            return answer?.status == 200 ? true : nil
        }
    }

    private static func expectRefusal(_ relay: RunningRelay, from source: String) async throws {
        // The refusal comes before any request.
        let client = try await ByteClient(port: relay.ports.http, from: source)
        let answer = try #require(try await RawRequest.answer(from: client))
        #expect(answer.status == 503)
        #expect(answer.code == "too_many_connections")
        #expect(answer.head.contains("Retry-After: 5") || answer.head.contains("retry-after: 5"), "\(answer.head)")
        #expect(try await client.next() == nil, "the connection ends after the answer")
    }

    @Test(
        "of one address are limited: one too many is told so, others are served, and a place that is left is free again"
    )
    func perAddress() async throws {
        try await RunningRelay.run {
            $0.connections.maximumPerAddress = 3
        } _: { relay in
            // Through the relay's other address, which has the same limit.
            let starter = try await Self.open(relay, from: "127.0.0.9")
            let started = try await RawRequest("POST /screencapture/start HTTP/1.1", "Content-Length: 0").ask(starter)
            #expect(started?.status == 201)
            let link = try await LinkClient(greeting: relay)
            let first = try await Self.open(relay, from: "127.0.0.2")
            let second = try await Self.open(relay, from: "127.0.0.2")
            let session = try #require(try await port(of: 1, on: first))
            // A session's port counts, too.
            let viewer = try await ByteClient(port: session, from: "127.0.0.2")
            try await link.send([SampleStream.accessUnit(0, key: true)], session: 1)
            let picture = SampleStream.accessUnit(0, key: true).bytes
            #expect(try await viewer.read(picture.count) == picture)
            for _ in 0..<3 { try await Self.expectRefusal(relay, from: "127.0.0.2") }
            let late = try await ByteClient(port: session, from: "127.0.0.2")
            #expect(try await late.readToEnd().isEmpty, "on a session's port there is no place for a word")
            let other = try await Self.open(relay, from: "127.0.0.3")
            // Accepted connections are still served.
            #expect(try await Self.livez.ask(second)?.status == 200)
            let next = SampleStream.accessUnit(1, key: false).bytes
            try await link.send([SampleStream.accessUnit(1, key: false)], session: 1)
            #expect(try await viewer.read(next.count) == next)
            let metrics = try #require(try await RawRequest("GET /metrics HTTP/1.1").ask(other))
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(text.contains("heliograph_connections_refused_total{reason=\"address\"} 4\n"))
            #expect(text.contains("heliograph_connections 5\n"), "\(text.prefix(2000))")
            try await first.close()
            try await Self.waitForPlace(relay, from: "127.0.0.2")
        }
    }

    @Test("the total is limited; WebSockets and silent connections count")
    func inAll() async throws {
        try await RunningRelay.run {
            $0.connections.maximum = 4
        } _: { relay in
            let starter = try await Self.open(relay, from: "127.0.0.2")
            let started = try await RawRequest("POST /screencapture/start HTTP/1.1", "Content-Length: 0").ask(starter)
            #expect(started?.status == 201)
            let socket = try await WebSocketClient(relay, session: 1)
            #expect(socket.wasUpgraded)
            let silent = try await ByteClient(port: relay.ports.http, from: "127.0.0.3")
            // The silent connection is counted once this one is: they come to one listener, but not to one thread.
            let third = try await eventually("two places taken") {
                let client = try await ByteClient(port: relay.ports.http, from: "127.0.0.4")
                let answer = try? await RawRequest("GET /metrics HTTP/1.1").ask(client)
                let text = answer.map { String(decoding: $0.body, as: UTF8.self) }
                if text?.contains("heliograph_connections 4\n") == true { return client }
                try? await client.close()
                return nil
            }
            for source in ["127.0.0.2", "127.0.0.5"] { try await Self.expectRefusal(relay, from: source) }
            try await socket.send(#"{"type":"clock","id":1}"#)
            #expect(try await socket.event("clock")["id"] == 1)
            try await silent.close()
            try await Self.waitForPlace(relay, from: "127.0.0.5")
            try await third.close()
        }
    }

    @Test("refused in great numbers get an answer a few at a time; the others are closed silently")
    func manyRefused() async throws {
        try await RunningRelay.run {
            $0.connections.maximum = 1
        } _: { relay in
            let first = try await Self.open(relay, from: "127.0.0.2")
            var clients: [ByteClient] = []
            for _ in 0..<200 { clients.append(try await ByteClient(port: relay.ports.http, from: "127.0.0.3")) }
            var told = 0
            for client in clients {
                if let answer = try await RawRequest.answer(from: client) {
                    #expect(answer.code == "too_many_connections")
                    told += 1
                }
                #expect(try await client.next() == nil)
            }
            #expect(told >= 64)
            #expect(try await Self.livez.ask(first)?.status == 200)
        }
    }

    /// Returns the TCP port of a session, requested over an open connection.
    private func port(of session: SessionID, on client: ByteClient) async throws -> Int? {
        let answer = try await RawRequest("GET /screencapture/\(session) HTTP/1.1").ask(client)
        guard case .integer(let port)? = try answer.map({ try JSONValue(parsing: $0.body) })?["port"] else {
            return nil
        }
        return port
    }
}

@Suite("The agents' port")
struct AgentStrangersTests {
    @Test("takes 64 connections that have not said HELLO; another is told so and may come again")
    func strangers() async throws {
        try await RunningRelay.run {
            $0.helloTimeout = .seconds(60)
        } _: { relay in
            let session = try await relay.startSession(["repeat": false])
            let viewer = try await ByteClient(port: session.port)
            let agent = try await LinkClient(greeting: relay)
            try await agent.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            let first = SampleStream.accessUnit(0, key: true).bytes
            #expect(try await viewer.read(first.count) == first)
            var silent: [ByteClient] = []
            for _ in 0..<64 { silent.append(try await ByteClient(port: relay.ports.agentLink)) }
            let late = try await LinkClient(port: relay.ports.agentLink)
            let reject = try await late.first { if case .reject(let reject) = $0 { reject } else { nil } }
            #expect(reject.code == .tooManyConnections)
            #expect(!reject.code.isFinal, "an agent tries again")
            try await late.waitForEnd()
            let metrics = try await relay.get("/metrics").text
            #expect(metrics.contains("heliograph_agents_refused_total{code=\"too_many_connections\"} 1"))
            // The linked agent stays connected.
            try await agent.send([SampleStream.accessUnit(1, key: false)], session: session.id)
            let next = SampleStream.accessUnit(1, key: false).bytes
            #expect(try await viewer.read(next.count) == next)
            try await silent[0].close()
            _ = try await eventually("a place for an agent") {
                (try? await LinkClient(greeting: relay, pid: 4712)) == nil ? nil : true
            }
        }
    }
}
