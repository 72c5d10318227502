import Access
import AsyncHTTPClient
import HeliographAPI
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// A relay, as a program calls it.
///
///     let relay = try RelayClient("https://farm.example:8420", key: key)
///     try await relay.device("left").start()
///
/// Nothing is sent before the first call. Calls may be made by any number of tasks at the same time.
public final class RelayClient: Sendable {
    /// How a relay is reached.
    package let target: RelayTarget
    private let client: HTTPClient
    private let closed = Atomic(false)

    /// - Parameters:
    ///   - url: The relay's address, such as `http://127.0.0.1:8420`.
    ///   - key: A key of the relay; `nil` if it needs none. Keys go only over `https://`, or to this machine.
    ///   - trust: The certificates to trust.
    ///   - identity: The certificate to show, if the client has paired; see ``pair(_:pin:as:_:trust:)``.
    /// - Throws: ``RelayError`` of the kind `badArgument`.
    public convenience init(
        _ url: String,
        key: String? = nil,
        trust: Trust = .authorities,
        identity: ClientIdentity? = nil
    ) throws(RelayError) {
        let known = key.map { APIKey($0) }
        if case .some(nil) = known { throw RelayError(.badArgument, "the key is not one of a relay") }
        let fingerprint = trust.fingerprint?.description
        self.init(try RelayTarget(url: url, fingerprint: fingerprint, key: known ?? nil).showing(identity))
    }

    /// Creates the client of the relay that the environment names, or of this machine's.
    ///
    /// HELIOGRAPH_RELAY is the address, HELIOGRAPH_KEY the key, or HELIOGRAPH_KEY_FILE a file with it, and
    /// HELIOGRAPH_FINGERPRINT the only certificate to trust. Without that, it is the one that the user trusts by
    /// `heliograph trust` or `heliograph pair`, or those of the system's authorities.
    ///
    /// - Throws: ``RelayError`` of the kind `badArgument`.
    public convenience init() throws(RelayError) {
        let url = RelayEnvironment.url ?? RelayEnvironment.defaultURL
        self.init(try RelayEnvironment.target(url: url, key: RelayEnvironment.key()))
    }

    /// - Parameter silence: How long an answer may pause, also before it begins; `nil` for no limit.
    package init(_ target: RelayTarget, silence: Duration? = nil) {
        var configuration = HTTPClient.Configuration()
        configuration.timeout.read = silence.map { TimeAmount($0) }
        // A relay sends none, and another address might not be trusted.
        configuration.redirectConfiguration = .disallow
        // A missing relay is reported at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.tlsConfiguration = RelayTLS.configuration(for: target)
        if let fingerprint = target.pinned { configuration.pin(fingerprint, of: target.url) }
        self.target = target
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit { close() }

    /// The relay's address, without a trailing slash.
    public var url: String { target.url }

    /// Ends its calls. Those that are under way fail, and so do later ones. A ``LiveSession`` goes on until it is
    /// closed itself.
    ///
    /// It may be called by any task and thread, and again.
    public func close() {
        guard !closed.exchange(true, ordering: .relaxed) else { return }
        Task { [client] in try? await client.shutdown() }
    }

    /// Closes it, and returns when its connections have ended.
    package func shutDown() async {
        guard !closed.exchange(true, ordering: .relaxed) else { return }
        try? await client.shutdown()
    }

    /// - Throws: ``RelayError`` of the kind `closed` if it is.
    func requireOpen() throws(RelayError) {
        if closed.load(ordering: .relaxed) { throw RelayError(.closed, "the client was closed") }
    }

    /// Makes a request, and returns the answer once its head has come.
    ///
    /// - Throws: ``RelayError`` if there is no answer, or if its status means an error.
    func execute(
        _ request: HTTPClientRequest,
        about place: CallPlace,
        deadline: NIODeadline
    ) async throws(RelayError) -> HTTPClientResponse {
        try requireOpen()
        var request = request
        if let key = target.key { request.headers.replaceOrAdd(name: "authorization", value: "Bearer \(key.text)") }
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: deadline)
        } catch let error as RelayError {
            throw error
        } catch is CancellationError {
            throw RelayError(.cancelled, "the call was cancelled")
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw .late(url)
        } catch {
            // Its connections end with it.
            try requireOpen()
            throw RelayError(ofConnecting: error, to: url)
        }
        guard (200..<300).contains(response.status.code) || response.status == .notModified else {
            throw try await refusal(response, about: place)
        }
        return response
    }

    /// Returns the error that a response means.
    private func refusal(
        _ response: HTTPClientResponse,
        about place: CallPlace
    ) async throws(RelayError) -> RelayError {
        let body = try await AnswerBody(response.body, of: url, "broke its answer off").collect(
            atMost: Answer<ProblemReport>.longest
        )
        let problem = Answer<ProblemReport>(status: Int(response.status.code), bytes: body, url: url)
        // What a proxy says while it cannot reach the relay.
        if [502, 503, 504, 530].contains(response.status.code), (try? problem.report()) == nil {
            return .unreachable(url)
        }
        return .refused(try problem.report(), about: place)
    }
}

extension RelayError {
    /// Creates the error for a connection that did not come about.
    init(ofConnecting error: any Error, to url: String) {
        switch error {
        // The relay, or what is in front of it, ended the connection before there was a certificate to judge.
        case NIOSSLError.uncleanShutdown, NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])):
            self = .unreachable(url)
        case is NIOSSLError, is NIOSSLExtraError: self = .untrusted(url)
        default: self = .unreachable(url)
        }
    }

    static func late(_ url: String) -> RelayError {
        RelayError(.timedOut, "the relay at \(url) did not answer in time")
    }
}

extension HTTPClient.Configuration {
    /// Trusts only the certificate with this fingerprint, whatever its authority. It is checked before the first
    /// request of each connection.
    fileprivate mutating func pin(_ fingerprint: Fingerprint, of url: String) {
        tlsConfiguration?.certificateVerification = .none
        httpVersion = .http1Only
        http1_1ConnectionDebugInitializer = { channel in
            channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
                guard let certificate else { throw RelayError(.untrusted, "the relay shows no certificate") }
                let found = Fingerprint(ofCertificate: try certificate.toDERBytes())
                guard found == fingerprint else { throw RelayError.otherCertificate(found, of: url) }
            }
        }
    }
}
