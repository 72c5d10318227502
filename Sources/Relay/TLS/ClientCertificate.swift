import Access
import NIOCore
import NIOSSL

extension Channel {
    /// Returns the certificate that the client has shown on this connection, or on that of this HTTP/2 stream; `nil`
    /// for none. TLS has checked that the client has its private key, and nothing else.
    func clientCertificate() async -> Fingerprint? {
        if eventLoop.inEventLoop { return shownCertificate }
        return try? await eventLoop.submit { self.shownCertificate }.get()
    }

    /// The same, on the connection's event loop.
    var shownCertificate: Fingerprint? {
        // The parent of a connection without TLS accepts connections, on an event loop of its own.
        for channel in [self, parent].compactMap({ $0 }) where channel.eventLoop.inEventLoop {
            guard let handler = try? channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self) else {
                continue
            }
            return (try? handler.peerCertificate?.toDERBytes()).map(Fingerprint.init(ofCertificate:))
        }
        return nil
    }
}
