import Foundation
import Synchronization

/// A loopback port that forwards to another one and lets only a limited number of bytes of each answer through. The
/// rest never comes, and nothing ends.
package final class Strait: Sendable {
    package let port: Int
    private let listener: Int32
    private let connections = Mutex<[Connection]>([])

    /// - Parameter limit: The number of bytes of each connection's answers to forward.
    package init(to target: Int, limit: Int) throws {
        (listener, port) = try Connection.listen()
        Thread.detachNewThread { [self] in
            defer { close(listener) }
            while case let accepted = accept(listener, nil, nil), accepted >= 0 {
                let client = Connection(descriptor: accepted)
                connections.withLock { $0.append(client) }
                guard let server = try? Connection(port: target) else { continue }
                connections.withLock { $0.append(server) }
                Self.pass(from: client, to: server, limit: .max)
                Self.pass(from: server, to: client, limit: limit)
            }
        }
    }

    /// Ends every connection.
    package func end() {
        shutdown(listener, Int32(SHUT_RDWR))
        for connection in connections.withLock({ $0 }) { shutdown(connection.descriptor, Int32(SHUT_RDWR)) }
    }

    private static func pass(from source: Connection, to destination: Connection, limit: Int) {
        Thread.detachNewThread {
            var left = limit
            while case let bytes = source.read(upTo: 1 << 16, milliseconds: -1), !bytes.isEmpty {
                destination.send([UInt8](bytes.prefix(left)))
                left -= min(left, bytes.count)
            }
            shutdown(destination.descriptor, Int32(SHUT_WR))
        }
    }
}
