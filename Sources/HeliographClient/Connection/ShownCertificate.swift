import Access
import NIOCore
import NIOPosix
import NIOSSL

extension CertificateFingerprint {
    /// How long a relay may take to show its certificate.
    private static let answerTime = TimeAmount.seconds(10)

    /// Returns the fingerprint of the certificate that a relay shows now, without trusting it or sending a request.
    ///
    ///     let shown = try await CertificateFingerprint.shown(by: "https://farm.example:8420")
    ///     print("Does the relay's log say \(shown), too?")
    ///
    /// An attacker between the program and the relay can show another one. So let a person compare it with the relay's
    /// log before you trust it with ``Trust/pinned(_:)``.
    ///
    /// - Parameter url: The relay's address, with `https://`.
    /// - Throws: ``RelayError``, of the kind `badArgument` if the address has no TLS.
    public static func shown(by url: String) async throws(RelayError) -> CertificateFingerprint {
        let target = try RelayTarget(url: url, fingerprint: nil, key: nil)
        guard target.isSecure, let place = target.place else {
            throw RelayError(.badArgument, "\(url) has no certificate: it does not begin with https://")
        }
        do {
            let context = try NIOSSLContext(configuration: .makeClientConfiguration())
            return CertificateFingerprint(try await fetch(place, target.url, context))
        } catch {
            throw error as? RelayError ?? RelayError(ofConnecting: error, to: target.url)
        }
    }

    /// Connects, and breaks the handshake off when the certificate has come.
    private static func fetch(
        _ place: (host: String, port: Int),
        _ url: String,
        _ context: NIOSSLContext
    ) async throws -> Fingerprint {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let shown = loop.makePromise(of: Fingerprint.self)
        let deadline = loop.scheduleTask(in: answerTime) { shown.fail(RelayError.late(url)) }
        defer { deadline.cancel() }
        ClientBootstrap(group: loop)
            .connectTimeout(answerTime)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try RelayTLS.add(to: channel, place.host, by: context) { found in
                        shown.succeed(found)
                        return false
                    }
                    try channel.pipeline.syncOperations.addHandler(FaultReader(shown))
                }
            }
            .connect(host: place.host, port: place.port)
            .whenComplete { result in
                switch result {
                // Whatever has ended the wait ends the connection, too.
                case .success(let channel): shown.futureResult.whenComplete { _ in channel.close(promise: nil) }
                case .failure(let fault): shown.fail(fault)
                }
            }
        return try await withTaskCancellationHandler {
            try await shown.futureResult.get()
        } onCancel: {
            shown.fail(RelayError(.cancelled, "the task was cancelled"))
        }
    }

    /// Passes on why there is no certificate.
    private final class FaultReader: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        private let shown: EventLoopPromise<Fingerprint>

        init(_ shown: EventLoopPromise<Fingerprint>) { self.shown = shown }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { shown.fail(error) }

        func channelInactive(context: ChannelHandlerContext) { shown.fail(ChannelError.eof) }
    }
}
