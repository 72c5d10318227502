import Foundation
import Synchronization
import TestSupport

/// A viewer over HTTP: a thread that reads to the end.
final class StreamReader: Sendable {
    private let connection: Connection
    private let state = Mutex((bytes: 0, isOpen: true))

    init(_ path: String, of relay: RelayProcess) throws {
        connection = try Connection(port: relay.httpPort)
        connection.send(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        Thread { [self] in read() }.start()
    }

    /// The answer's head included.
    var byteCount: Int { state.withLock { $0.bytes } }

    /// Whether the relay has not ended it.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    func end() { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }

    private func read() {
        while connection.isOpen {
            let count = connection.read(upTo: 64 << 10, milliseconds: 1_000).count
            state.withLock { $0.bytes += count }
        }
        connection.close()
        state.withLock { $0.isOpen = false }
    }
}
