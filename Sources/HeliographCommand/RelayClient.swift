import Access
import AsyncHTTPClient
import FoundationEssentials
import HeliographAPI
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

    /// Makes a call and returns the relay's report.
    ///
    ///     let status = try await client.report(of: Routes.getBroadcast, DeviceArgument(device: "left"))
    func report<Arguments, Report: APIModel>(
        of call: Call<Arguments, Report>,
        _ arguments: Arguments = Arguments(),
        session: UInt32? = nil,
        timeout: TimeAmount = Self.answerTime
    ) async throws -> Report {
        try decode(
            Report.self,
            from: await answer(to: call, arguments, session: session, timeout: timeout)
        )
    }

    /// Makes a call and returns the relay's answer as bytes.
    ///
    /// - Parameters:
    ///   - session: The session in the call's path, if it has one.
    ///   - limit: Most bytes of the answer.
    ///   - timeout: How long the answer may take.
    func answer<Arguments, Output>(
        to call: Call<Arguments, Output>,
        _ arguments: Arguments = Arguments(),
        session: UInt32? = nil,
        limit: Int = Self.maximumAnswer,
        timeout: TimeAmount = Self.answerTime
    ) async throws -> ByteBuffer {
        let route = call.route
        var request = HTTPClientRequest(url: url + path(of: call, session: session))
        request.method = HTTPMethod(rawValue: route.method.rawValue)
        let body = try JSONEncoder().encode(arguments)
        if route.takesBody {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        } else {
            request.url += try Query.text(body)
        }
        return try await execute(request, deadline: .now() + timeout).body.collect(upTo: limit)
    }

    /// The path of a call, its alias where it has one: there a device that is not named is the default one.
    private func path(of call: Call<some Any, some Any>, session: UInt32?) -> String {
        let route = call.route.aliased
        return session.map(route.path(session:)) ?? route.path
    }

    /// Hands the pictures of a stream of MP4 fragments on as they come, until it ends or `consume` returns false.
    ///
    /// - Throws: ``CommandError``, also where the stream is cut off or is no such stream.
    func pictures(
        of session: UInt32,
        _ query: StreamQuery,
        to consume: (AccessUnit) throws -> Bool
    ) async throws {
        let address = url + path(of: Routes.streamMP4, session: session) + (try Query.text(JSONEncoder().encode(query)))
        let response = try await execute(HTTPClientRequest(url: address), deadline: .distantFuture)
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

    private func decode<Answer: Decodable>(_: Answer.Type, from bytes: ByteBuffer) throws -> Answer {
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
            throw CommandError.refused(try decode(ProblemReport.self, from: body))
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
