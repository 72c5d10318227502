import HeliographAPI
import NIOCore

/// A viewer on a session's TCP port. The event loop moves units from the queue to the socket as fast as the socket
/// takes them.
@MediaLoop
final class TCPViewer: RenditionViewer, PortViewer {
    let channel: any Channel
    let format: StreamFormat
    private let stopwatch: HandoverLatency.Stopwatch
    private(set) var queue: ViewerQueue

    init(
        channel: any Channel,
        framing: Framing,
        limits: ViewerQueue.Limits,
        stopwatch: HandoverLatency.Stopwatch
    ) {
        self.stopwatch = stopwatch
        self.channel = channel
        format = .bare(framing)
        queue = ViewerQueue(limits: limits)
    }

    var hasRoom: Bool { channel.isWritable }

    func offer(_ unit: RenderedUnit) {
        queue.offer(unit)
        drain()
    }

    func miss() { queue.miss() }

    /// Writes waiting units while the socket's buffer has room.
    func drain() {
        guard let first = writeNext() else { return }
        // There is usually one picture, which needs no array.
        var others: [UInt64] = []
        while let next = writeNext() { others.append(next) }
        channel.flush()
        stopwatch.handedOver(CollectionOfOne(first))
        stopwatch.handedOver(others)
    }

    /// Writes the next picture if the socket's buffer has room.
    ///
    /// - Returns: When the relay received it, monotonic ns; `nil` if nothing was written.
    private func writeNext() -> UInt64? {
        guard hasRoom, let rendered = queue.next()?.rendered else { return nil }
        channel.write(rendered.bytes, promise: nil)
        return rendered.unit.relayed
    }

    func join(_ session: Session) -> Bool { session.admit(self) }
}
