import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// Calls a relay's HTTP API.
struct RelayClient: Sendable {
    /// Most bytes of an answer that is no stream.
    private static let maximumAnswer = 4 << 20

    /// How long an ordinary answer may take.
    static let answerTime = TimeAmount.seconds(10)

    let url: String
    private let client: HTTPClient

    /// Runs `body` with a client for the relay at `url`.
    ///
    /// - Throws: ``CommandError``
    static func with(_ url: String, _ body: (RelayClient) async throws -> Void) async throws {
        var configuration = HTTPClient.Configuration()
        // A relay that is not there is reported at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(RelayClient(url: url, client: client)))
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        try result.get()
    }

    /// The JSON that the relay answers, as bytes.
    func get(_ path: String) async throws -> ByteBuffer {
        try await execute(HTTPClientRequest(url: url + path), deadline: .now() + Self.answerTime)
            .body.collect(upTo: Self.maximumAnswer)
    }

    /// The JSON that the relay answers to a call without arguments, as bytes.
    @discardableResult
    func post(_ path: String) async throws -> ByteBuffer {
        try await post(path, body: [String: String](), timeout: Self.answerTime)
    }

    /// The JSON that the relay answers, as bytes.
    ///
    /// - Parameter timeout: How long the answer may take.
    func post(_ path: String, body: some Encodable, timeout: TimeAmount) async throws -> ByteBuffer {
        try await send(.POST, path, body: body, timeout: timeout)
    }

    /// The JSON that the relay answers to a change, as bytes.
    func patch(_ path: String, body: some Encodable) async throws -> ByteBuffer {
        try await send(.PATCH, path, body: body, timeout: Self.answerTime)
    }

    private func send(
        _ method: HTTPMethod,
        _ path: String,
        body: some Encodable,
        timeout: TimeAmount
    ) async throws -> ByteBuffer {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(body)))
        return try await execute(request, deadline: .now() + timeout).body.collect(upTo: Self.maximumAnswer)
    }

    /// Hands a stream's bytes on as they come, until it ends or `consume` returns false.
    func stream(_ path: String, to consume: (ByteBuffer) throws -> Bool) async throws {
        let response = try await execute(HTTPClientRequest(url: url + path), deadline: .distantFuture)
        for try await bytes in response.body {
            guard try consume(bytes) else { return }
        }
    }

    func decode<Answer: Decodable>(_: Answer.Type, from bytes: ByteBuffer) throws -> Answer {
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(bytes.readableBytesView))
        } catch {
            throw CommandError.failed("\(url) does not answer like a relay of this release: \(error)")
        }
    }

    private func execute(_ request: HTTPClientRequest, deadline: NIODeadline) async throws -> HTTPClientResponse {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: deadline)
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw CommandError.failed("the relay at \(url) did not answer in time")
        } catch {
            throw CommandError.unreachable(url)
        }
        guard (200..<300).contains(response.status.code) else {
            let body = try await response.body.collect(upTo: Self.maximumAnswer)
            let problem = try decode(ProblemAnswer.self, from: body)
            throw CommandError.failed("\(problem.detail) (\(problem.code))")
        }
        return response
    }
}
