import CPipeWire
import Glibc

/// A sink without hardware, which PipeWire makes for the agent and removes with it.
///
/// Session managers choose the sink of the highest priority as the default, unless the user has chosen another one.
final class VirtualSink: @unchecked Sendable {
    // Unchecked because the handles do not change, and PipeWire's are touched only under its lock.

    /// Higher than those of ALSA's sinks.
    private static let priority = 2000

    /// Set when the connection to PipeWire is lost, and with it the sink.
    let ended: Event
    private let connection: PipeWireConnection
    private let proxy: OpaquePointer

    /// Makes the sink.
    init(named name: String) throws(SourceError) {
        ended = try SourceError.explainingShortage { () throws(ResourceShortage) in try Event() }
        connection = try PipeWireConnection(to: .session)
        let made = connection.withLock { [connection] in
            cpw_core_create_null_sink(connection.core, name, "Heliograph", UInt32(Self.priority))
        }
        guard let made else {
            connection.shutDown()
            throw .unavailable(
                cause: "audio_sink_refused",
                detail: "PipeWire makes no sink (\(String(cString: strerror(errno)))). Is its adapter module loaded?"
            )
        }
        proxy = made
        let ended = ended
        connection.observe { _ in ended.set() }
        connection.settle()
    }

    /// Removes the sink. Must be called once, and not in PipeWire's thread.
    func remove() {
        connection.withLock { pw_proxy_destroy(proxy) }
        connection.shutDown()
    }
}
