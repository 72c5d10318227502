import Access
import AsyncHTTPClient
import FoundationEssentials
import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import NIOSSL
import Packaging

/// A client of a relay's HTTP API.
struct RelayClient: Sendable {
    /// Most bytes of an answer that is not a stream.
    private static let maximumAnswer = 4 << 20
    /// Most bytes of a snapshot: what an agent may send (docs/reference/wire.md).
    static let maximumFile = 16 << 20

    /// The time limit for an ordinary answer.
    static let answerTime = TimeAmount.seconds(10)
    /// How much more time a call gets that may start a device's broadcast.
    private static let startTime = TimeAmount.seconds(20)

    private static let defaultDevice = "default"

    let url: String
    private let key: APIKey?
    private let client: HTTPClient

    /// Runs `body` with a client for the relay at `address`.
    ///
    /// - Parameter silence: How long an answer may pause, also before it begins; `nil` for no limit.
    /// - Throws: ``CommandError``
    static func with(
        _ address: RelayAddress,
        silence: TimeAmount? = nil,
        _ body: (RelayClient) async throws -> Void
    ) async throws { try await with(try address.target(), silence: silence, body) }

    /// Runs `body` with a client for a relay, likewise.
    static func with(
        _ target: RelayTarget,
        silence: TimeAmount? = nil,
        _ body: (RelayClient) async throws -> Void
    ) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.timeout.read = silence
        // A missing relay is reported at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let fingerprint = target.pinned { configuration.pin(fingerprint) }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(RelayClient(url: target.url, key: target.key, client: client)))
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        try result.get()
    }

    // MARK: Calls

    /// Makes a call and returns the relay's report.
    ///
    ///     let status = try await client.report(of: Routes.getBroadcast, DeviceArgument(device: "left"))
    func report<Arguments, Report: APIModel>(
        of call: Call<Arguments, Report>,
        _ arguments: Arguments = Arguments(),
        at place: CallPlace = .relay,
        timeout: TimeAmount = Self.answerTime
    ) async throws -> Report {
        try await answer(to: call, arguments, at: place, timeout: timeout).report()
    }

    /// Makes a call about a session and returns the relay's report.
    func report<Arguments, Report: APIModel>(
        of call: Call<Arguments, Report>,
        _ arguments: Arguments = Arguments(),
        at session: SessionAddress
    ) async throws -> Report {
        try await answer(to: call, arguments, at: session).report()
    }

    /// Makes a call about a session and returns the relay's answer.
    ///
    /// - Parameter timeout: The time limit for the answer, in addition to the start of a broadcast that the call may
    ///   need.
    func answer<Arguments, Output>(
        to call: Call<Arguments, Output>,
        _ arguments: Arguments = Arguments(),
        at session: SessionAddress,
        limit: Int = Self.maximumAnswer,
        timeout: TimeAmount = Self.answerTime
    ) async throws -> Answer<Output> {
        var timeout = timeout
        if case .shared = session { timeout = timeout + Self.startTime }
        return try await answer(to: call, arguments, at: session.place(of: call.route), limit: limit, timeout: timeout)
    }

    /// Makes a call and returns the relay's answer.
    ///
    /// - Parameters:
    ///   - upload: The content that the call takes as its body, beside arguments in the query.
    ///   - type: The content's media type.
    ///   - json: The body that the call gets instead of `arguments`.
    ///   - limit: Most bytes of the answer.
    ///   - timeout: The time limit for the answer.
    func answer<Arguments, Output>(
        to call: Call<Arguments, Output>,
        _ arguments: Arguments = Arguments(),
        at place: CallPlace = .relay,
        upload: ByteBuffer? = nil,
        type: String = "image/png",
        json: JSONValue? = nil,
        limit: Int = Self.maximumAnswer,
        timeout: TimeAmount = Self.answerTime
    ) async throws -> Answer<Output> {
        let route = call.route
        var request = HTTPClientRequest(url: url + place.path(of: route))
        request.method = HTTPMethod(rawValue: route.method.rawValue)
        let body = try json.map { Data($0.text.utf8) } ?? JSONEncoder().encode(arguments)
        if let upload {
            request.headers.add(name: "content-type", value: type)
            request.body = .bytes(upload)
            request.url += try Query.text(body)
        } else if route.takesBody {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        } else {
            request.url += try Query.text(body)
        }
        let response = try await execute(request, about: place, deadline: .now() + timeout)
        let bytes = try await unbroken("broke its answer off") { try await response.body.collect(upTo: limit) }
        return Answer(status: Int(response.status.code), bytes: bytes, url: url)
    }

    /// Returns `name`, or the name of the relay's default device if it is `nil`.
    func device(_ name: String?) async throws -> String {
        if let name { return name }
        let devices = try await report(of: Routes.listBroadcasts).broadcasts.map(\.device)
        if devices.contains(Self.defaultDevice) { return Self.defaultDevice }
        guard devices.count == 1 else {
            throw CommandError.failed(
                "the relay has several devices and none is called \(Self.defaultDevice): "
                    + "give one by --device: \(devices.joined(separator: ", "))"
            )
        }
        return devices[0]
    }

    // MARK: Streams

    /// Passes the units of a stream of MP4 fragments to `consume` with the stream's audio tracks, until the stream ends
    /// or `consume` returns `false`.
    ///
    /// - Throws: ``CommandError``, also if the stream is cut off or has another format.
    func units(
        of session: UInt32,
        _ query: StreamQuery,
        to consume: (AccessUnit, _ sound: [MediaTrack]) throws -> Bool
    ) async throws {
        let response = try await stream(Routes.streamMP4, query, at: .session(session))
        var reader = FragmentReader()
        try await unbroken("broke the stream off") {
            do {
                for try await bytes in response.body {
                    let units = try reader.append(bytes.readableBytesView)
                    guard try units.allSatisfy({ try consume($0, reader.sound) }) else { return }
                }
            } catch let error as FragmentReader.Failure {
                throw CommandError.failed("the relay's stream cannot be recorded: \(error)")
            }
        }
    }

    /// Passes the pages of a session's sound to `consume`, until the stream ends or `consume` returns `false`.
    ///
    /// - Throws: ``CommandError``, also if the stream is cut off or has another format.
    func sound(of session: UInt32, to consume: (OggPage) throws -> Bool) async throws {
        let response = try await stream(Routes.streamOgg, NoArguments(), at: .session(session))
        var reader = OggPageReader()
        try await unbroken("broke the sound off") {
            do {
                for try await bytes in response.body {
                    guard try reader.append(bytes.readableBytesView).allSatisfy(consume) else { return }
                }
            } catch let error as OggPageReader.Failure {
                throw CommandError.failed("the relay's sound cannot be recorded: \(error)")
            }
        }
    }

    /// Passes the frames of a session's sound in AAC to `consume`, until the stream ends or `consume` returns `false`.
    ///
    /// - Throws: ``CommandError``, also if the stream is cut off or has another format.
    func aac(of session: UInt32, to consume: (ADTSFrame) throws -> Bool) async throws {
        let response = try await stream(Routes.streamAAC, NoArguments(), at: .session(session))
        var reader = ADTSReader()
        try await unbroken("broke the sound off") {
            do {
                for try await bytes in response.body {
                    guard try reader.append(bytes.readableBytesView).allSatisfy(consume) else { return }
                }
            } catch let error as ADTSReader.Failure {
                throw CommandError.failed("the relay's sound cannot be recorded: \(error)")
            }
        }
    }

    /// Passes events to `consume`, until the relay ends the stream or `consume` returns `false`.
    ///
    /// - Parameter id: The event after which to begin; `nil` for none. Becomes the last one that the relay has named.
    /// - Throws: ``CommandError``
    func events(
        _ query: EventQuery,
        after id: inout String?,
        to consume: (ServerSentEvents.Event) throws -> Bool
    ) async throws {
        let headers = id.map { [("last-event-id", $0)] } ?? []
        let response = try await stream(Routes.listenForEvents, query, headers: HTTPHeaders(headers))
        var events = ServerSentEvents()
        try await unbroken("broke the stream of events off") {
            for try await bytes in response.body {
                let found = events.read(bytes.readableBytesView)
                if !events.id.isEmpty { id = events.id }
                guard try found.allSatisfy(consume) else { return }
            }
        }
    }

    /// A range of the bytes of something in the library.
    struct Part: Sendable {
        /// The range's first byte.
        let first: UInt64
        /// The range's last byte.
        let last: UInt64
        /// How many bytes all of it has.
        let total: UInt64
        /// Stays while the bytes do.
        let tag: String?
        fileprivate let body: HTTPClientResponse.Body
    }

    /// Asks for a range of an item's bytes.
    ///
    /// - Parameter range: As in a `Range` field (RFC 9110, 14.2): `bytes=100-`.
    /// - Throws: ``CommandError``
    func part<Arguments>(
        _ range: String,
        of item: String,
        _ call: Call<Arguments, Bytes>,
        _ query: Arguments
    ) async throws -> Part {
        let response = try await stream(call, query, at: .item(item), headers: ["range": range])
        // `bytes 100-199/1234`
        let words = (response.headers.first(name: "content-range") ?? "").split { " -/".contains($0) }
        guard words.count == 4, let first = UInt64(words[1], radix: 10), let last = UInt64(words[2], radix: 10),
            let total = UInt64(words[3], radix: 10), first <= last, last < total
        else {
            throw CommandError.failed("\(url) does not answer like a relay of this release: it sends no range")
        }
        return Part(
            first: first,
            last: last,
            total: total,
            tag: response.headers.first(name: "etag"),
            body: response.body
        )
    }

    /// Passes a part's bytes to `consume`.
    ///
    /// - Throws: ``CommandError``, also if they break off, and what `consume` throws.
    func read(_ part: Part, to consume: (ByteBuffer) async throws -> Void) async throws {
        try await unbroken("broke the download off") {
            for try await bytes in part.body { try await consume(bytes) }
        }
    }

    /// Passes the bytes of a copy of the library's catalogue to `consume`.
    ///
    /// - Parameter mark: The caller's own copy's; `nil` if it has none.
    /// - Returns: Whether there are any. There are none if the caller has everything.
    /// - Throws: ``CommandError``, and what `consume` throws.
    func catalogue(since mark: String?, to consume: (ByteBuffer) throws -> Void) async throws -> Bool {
        var query = CatalogueQuery()
        query.since = mark
        let headers = mark.map { [("if-none-match", "\"\($0)\"")] } ?? []
        let response = try await stream(Routes.getLibraryCatalogue, query, headers: HTTPHeaders(headers))
        guard response.status != .notModified else { return false }
        try await unbroken("broke the download off") {
            for try await bytes in response.body { try consume(bytes) }
        }
        return true
    }

    private func stream<Arguments>(
        _ call: Call<Arguments, Bytes>,
        _ query: Arguments,
        at place: CallPlace = .relay,
        headers: HTTPHeaders = [:]
    ) async throws -> HTTPClientResponse {
        let address = url + place.path(of: call.route) + (try Query.text(JSONEncoder().encode(query)))
        var request = HTTPClientRequest(url: address)
        request.headers = headers
        return try await execute(request, about: place, deadline: .distantFuture)
    }

    // MARK: Requests

    /// Runs `body`, which reads an answer. If the connection fails meanwhile, the error says what the relay did.
    private func unbroken<Value>(_ deed: String, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch is NIOTooManyBytesError {
            throw CommandError.failed("the relay at \(url) sends a longer answer than a relay of this release")
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw CommandError.failed("the relay at \(url) did not answer in time")
        } catch  where error is HTTPClientError || error is HTTPParserError || error is ChannelError {
            throw CommandError.brokenOff("the relay at \(url) \(deed)")
        } catch let error as IOError {
            throw CommandError.brokenOff("the relay at \(url) \(deed): \(error)")
        }
    }

    private func execute(
        _ request: HTTPClientRequest,
        about place: CallPlace,
        deadline: NIODeadline
    ) async throws -> HTTPClientResponse {
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
                "the certificate of the relay at \(url) is not trusted, or the port has no TLS: compare its fingerprint with the relay's log, and pass it with --fingerprint"
            )
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw CommandError.failed("the relay at \(url) did not answer in time")
        } catch {
            throw CommandError.unreachable(url)
        }
        guard (200..<300).contains(response.status.code) || response.status == .notModified else {
            let body = try await unbroken("broke its answer off") {
                try await response.body.collect(upTo: Self.maximumAnswer)
            }
            // What a proxy says while it cannot reach the relay.
            if [502, 503, 504, 530].contains(response.status.code),
                (try? JSONDecoder().decode(ProblemReport.self, from: Data(body.readableBytesView))) == nil
            {
                throw CommandError.unreachable(url)
            }
            throw CommandError.refused(
                try Answer<Never>(status: Int(response.status.code), bytes: body, url: url).decoded(ProblemReport.self),
                about: place
            )
        }
        return response
    }

    /// The relay's answer.
    struct Answer<Report> {
        let status: Int
        let bytes: ByteBuffer
        /// The relay's address, for errors.
        fileprivate let url: String

        fileprivate func decoded<Value: Decodable>(_: Value.Type) throws -> Value {
            do {
                return try JSONDecoder().decode(Value.self, from: Data(bytes.readableBytesView))
            } catch {
                throw CommandError.failed("\(url) does not answer like a relay of this release: \(error)")
            }
        }
    }
}

extension RelayClient.Answer where Report: Decodable {
    func report() throws -> Report { try decoded(Report.self) }
}

extension HTTPClient.Configuration {
    /// Trusts only the certificate with this fingerprint, whatever its authority. It is checked before the first
    /// request of each connection.
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
