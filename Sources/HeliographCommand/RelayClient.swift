import Access
import AsyncHTTPClient
import FoundationEssentials
import Media
import NIOCore
import NIOHTTP1
import NIOSSL
import Packaging

/// Calls a relay's HTTP API.
struct RelayClient: Sendable {
    /// Most bytes of an answer that is no stream.
    private static let maximumAnswer = 4 << 20
    /// Most bytes of a picture: what the agent may send (docs/wire.md).
    static let maximumFile = 16 << 20

    /// How long an ordinary answer may take.
    static let answerTime = TimeAmount.seconds(10)

    let url: String
    private let key: APIKey?
    private let client: HTTPClient

    /// Runs `body` with a client for the relay at `address`.
    ///
    /// - Throws: ``CommandError``
    static func with(_ address: RelayAddress, _ body: (RelayClient) async throws -> Void) async throws {
        let key = try address.key()
        var configuration = HTTPClient.Configuration()
        // A relay that is not there is reported at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let fingerprint = address.pinned { configuration.pin(fingerprint) }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(RelayClient(url: address.url, key: key, client: client)))
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        try result.get()
    }

    /// The JSON that the relay answers, as bytes.
    ///
    /// - Parameters:
    ///   - limit: Most bytes, for answers of another kind.
    ///   - timeout: How long the answer may take.
    func get(_ path: String, limit: Int = Self.maximumAnswer, timeout: TimeAmount = Self.answerTime) async throws
        -> ByteBuffer
    {
        try await execute(HTTPClientRequest(url: url + path), deadline: .now() + timeout).body.collect(upTo: limit)
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

    /// Hands the pictures of a stream of MP4 fragments on as they come, until it ends or `consume` returns false.
    ///
    /// - Throws: ``CommandError``, also where the stream is cut off or is no such stream.
    func pictures(_ path: String, to consume: (AccessUnit) throws -> Bool) async throws {
        let response = try await execute(HTTPClientRequest(url: url + path), deadline: .distantFuture)
        var reader = FragmentReader()
        do {
            for try await bytes in response.body {
                guard try reader.append(bytes.readableBytesView).allSatisfy(consume) else { return }
            }
        } catch let error as FragmentReader.Failure {
            throw CommandError.failed("the relay's stream is no MP4 that can be recorded: \(error)")
        } catch is HTTPClientError {
            throw CommandError.failed("the relay at \(url) broke the stream off")
        } catch let error as IOError {
            throw CommandError.failed("the relay at \(url) broke the stream off: \(error)")
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
        var request = request
        if let key { request.headers.replaceOrAdd(name: "authorization", value: "Bearer \(key.text)") }
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: deadline)
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as CommandError {
            throw error
        } catch is NIOSSLError {
            throw CommandError.failed(
                "the certificate of the relay at \(url) is not to be trusted, or there is no TLS: compare its fingerprint with the relay's log, and give it with --fingerprint"
            )
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw CommandError.failed("the relay at \(url) did not answer in time")
        } catch {
            throw CommandError.unreachable(url)
        }
        guard (200..<300).contains(response.status.code) else {
            let body = try await response.body.collect(upTo: Self.maximumAnswer)
            throw CommandError.refused(try decode(ProblemAnswer.self, from: body))
        }
        return response
    }
}

extension HTTPClient.Configuration {
    /// Trusts the certificate of this fingerprint and no other, whoever vouches for them. It is looked at before the first request of each connection.
    fileprivate mutating func pin(_ fingerprint: Fingerprint) {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        tlsConfiguration = tls
        httpVersion = .http1Only
        http1_1ConnectionDebugInitializer = { channel in
            channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
                guard let certificate else { throw CommandError.failed("the relay shows no certificate") }
                let found = Fingerprint(ofCertificate: try certificate.toDERBytes())
                guard found == fingerprint else {
                    throw CommandError.failed("the relay's certificate has another fingerprint: \(found.text)")
                }
            }
        }
    }
}
