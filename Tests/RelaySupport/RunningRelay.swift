package import Access
import AsyncHTTPClient
package import HeliographAPI
import Logging
import NIOCore
package import NIOHTTP1
import NIOSSL
package import Relay
import ServiceLifecycle
import TestSupport
package import Wire

/// A real relay in this process, on separate ports.
package struct RunningRelay: Sendable {
    /// An answer of its HTTP API.
    package struct Answer: Sendable {
        package let status: Int
        package let headers: HTTPHeaders
        package let body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// The body as JSON; null if it is not JSON.
        package var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }

        /// A problem's code.
        package var code: String? { json["code"]?.text.trimmingQuotes }
    }

    /// How long a graceful shutdown may take.
    package static let shutdownLimit = Duration.seconds(8)

    package private(set) var ports: RelayPorts
    /// Whether calls go to the port of the tunnel.
    private var isTunnel = false
    private let host: String
    private let isSecure: Bool
    private let token: LinkToken
    private let group: ServiceGroup

    /// Runs a relay while `body` runs, shuts it down gracefully and waits for its end.
    ///
    /// - Parameter log: Keeps what the relay logs.
    package static func run(
        log: LogRecorder? = nil,
        _ configure: (inout RelayConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (RunningRelay) async throws -> Void
    ) async throws {
        var configuration = RelayConfiguration()
        configuration.http.port = 0
        configuration.agentLink.port = 0
        configuration.sessionPortBase = 0
        // Tests say nothing beyond this machine.
        configuration.isHidden = true
        configuration.devices[0].source = SourceRequest(kind: .testPattern)
        configuration.devices[0].agentExecutable = "/nonexistent/capture-agent"
        // The tests' agents send no heartbeats, and a busy machine is slow.
        configuration.watchdog = .seconds(60)
        configure(&configuration)
        let token = configuration.linkToken
        // A relay that listens on all addresses is reached by the loopback one.
        let host = configuration.http.host == "0.0.0.0" ? "127.0.0.1" : configuration.http.host
        let isSecure = configuration.tls != .none
        let (ready, announce) = AsyncStream<RelayPorts>.makeStream()
        var logger = log?.logger ?? Logger(label: "relay-under-test")
        if log == nil { logger.logLevel = .critical }
        let relay = RelayApplication(configuration: configuration, logger: logger) { ports in
            announce.yield(ports)
        }
        var services = ServiceGroupConfiguration(
            services: [.init(service: relay, successTerminationBehavior: .gracefullyShutdownGroup)],
            logger: logger
        )
        // A relay that does not end fails its own test and delays no other.
        services.maximumGracefulShutdownDuration = shutdownLimit * 2
        let group = ServiceGroup(configuration: services)
        try await withThrowingTaskGroup { tasks in
            tasks.addTask {
                // A relay that cannot start announces nothing.
                defer { announce.finish() }
                try await group.run()
            }
            let ports = try await within("the relay's ports") {
                var iterator = ready.makeAsyncIterator()
                return await iterator.next()
            }
            guard let ports else { return try await tasks.waitForAll() }
            let running = RunningRelay(ports: ports, host: host, isSecure: isSecure, token: token, group: group)
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await body(running))
            } catch {
                outcome = .failure(error)
            }
            await running.shutDown()
            let clock = ContinuousClock()
            let took = try await clock.measure { try await tasks.waitForAll() }
            try outcome.get()
            if took > shutdownLimit { throw NeverCame(description: "the shutdown took \(took)") }
        }
    }

    /// Begins a graceful shutdown.
    package func shutDown() async { await group.triggerGracefulShutdown() }

    package func hello(device: String = "default", pid: Int32 = 4711, role: AgentRole = .primary) -> Hello {
        Hello(token: token.value, device: device, source: "test-pattern", pid: pid, release: "test", role: role)
    }

    /// The bytes of a HELLO with the correct token.
    package func helloPacket() -> [UInt8] { Packet.hello(hello()).encoded() }

    // MARK: HTTP

    package func get(_ path: String) async throws -> Answer { try await call(.GET, path) }

    package func post(_ path: String, _ body: JSONValue? = nil) async throws -> Answer {
        try await call(.POST, path, body: body.map { Array($0.text.utf8) })
    }

    package func patch(_ path: String, _ body: JSONValue) async throws -> Answer {
        try await call(.PATCH, path, body: Array(body.text.utf8))
    }

    /// - Throws: ``ContractFault`` if the answer does not follow openapi.json.
    package func call(
        _ method: HTTPMethod,
        _ path: String,
        key: APIKey? = nil,
        headers: [(String, String)] = [],
        body: [UInt8]? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url(path))
        request.method = method
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if let key { request.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(key.text)") }
        if let body { request.body = .bytes(ByteBuffer(bytes: body)) }
        let response = try await Self.client(isSecure: isSecure).execute(request, timeout: .seconds(30))
        let bytes = try await response.body.collect(upTo: 16 << 20)
        let answer = Answer(
            status: Int(response.status.code),
            headers: response.headers,
            body: Array(bytes.readableBytesView)
        )
        let faults = Contract.current.faults(of: answer, to: method.rawValue, path, throughTunnel: isTunnel)
        guard faults.isEmpty else {
            let statement = faults.joined(separator: "; ")
            throw ContractFault(description: "the answer to \(method) \(path) \(statement): \(answer.text)")
        }
        return answer
    }

    /// Returns the relay as it is reached through its tunnel.
    package func tunnelled(port: Int) -> RunningRelay {
        var relay = self
        (relay.ports.http, relay.isTunnel) = (port, true)
        return relay
    }

    package func url(_ path: String) -> String { "\(isSecure ? "https" : "http")://\(host):\(ports.http)\(path)" }

    /// Tests of certificates check them in other ways.
    private static let trusting: HTTPClient = {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(tlsConfiguration: tls))
    }()

    private static func client(isSecure: Bool) -> HTTPClient { isSecure ? trusting : .shared }

    // MARK: Shorthands

    /// Starts a session and returns its id and port.
    package func startSession(_ body: JSONValue = [:]) async throws -> (id: SessionID, port: Int) {
        let answer = try await post("/screencapture/start", body)
        guard case .integer(let id) = answer.json["id"], case .integer(let port) = answer.json["port"] else {
            throw NeverCame(description: "no session: \(answer.text)")
        }
        return (SessionID(id), port)
    }

    package func session(_ id: SessionID) async throws -> JSONValue { try await get("/screencapture/\(id)").json }

    package func broadcast() async throws -> JSONValue { try await get("/screencapture/broadcast").json }

    /// Waits until the relay knows what the agent of the device `default` can do.
    ///
    /// - Parameter key: A viewer's, if the relay has keys.
    package func waitForCapabilities(key: APIKey? = nil) async throws {
        _ = try await eventually("capabilities") {
            let broadcast = try await call(.GET, "/v1/devices/default/broadcast", key: key)
            return broadcast.status == 200 && broadcast.json["input"] != .null ? true : nil
        }
    }

    /// Waits until the broadcast is in `state`.
    package func waitForState(_ state: String) async throws {
        _ = try await eventually("state \(state)") {
            try await broadcast()["state"] == .string(state) ? true : nil
        }
    }

    /// Waits until the session has `count` viewers.
    package func waitForViewers(_ count: Int, of id: SessionID) async throws {
        _ = try await eventually("\(count) viewers") {
            try await session(id)["viewers"] == .integer(count) ? true : nil
        }
    }

    /// Waits until the relay has a picture of the session.
    ///
    /// Not by its `feed`: that is `none` again if no further picture comes within about a second, before a busy machine
    /// has asked.
    package func waitForPicture(of id: SessionID) async throws {
        _ = try await eventually("a picture of session \(id)") {
            let pictures = try await session(id)["counters"]?["relay"]?["pictures"]
            return pictures == nil || pictures == 0 ? nil : true
        }
    }
}

extension String {
    fileprivate var trimmingQuotes: String { hasPrefix("\"") ? String(dropFirst().dropLast()) : self }
}
