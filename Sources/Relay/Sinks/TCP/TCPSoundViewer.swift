import Media
import NIOCore

/// A viewer of the device's sound on a session's second TCP port, in scrcpy's framing.
@MediaLoop
final class TCPSoundViewer: PortViewer, Sink {
    /// The longest sound that waits, in µs. The oldest is left out.
    private static let longest: Int64 = 10_000_000

    let channel: any Channel
    private var waiting = CircularBuffer<MediaUnit>()
    /// The numbers of packets that the connection has taken, and that were left out because it was too slow.
    private var (taken, lost): (UInt64, UInt64) = (0, 0)

    init(channel: any Channel) { self.channel = channel }

    func join(_ session: Session) -> Bool {
        guard session.admit(self) else { return false }
        channel.writeAndFlush(ScrcpyFraming.soundConfiguration(channels: 2), promise: nil)
        return true
    }

    // MARK: Sink

    var demand: Demand { Demand(video: .none, audio: [.opus]) }
    var isUse: Bool { true }

    func take(_ item: StreamItem) {
        guard case .unit(let unit) = item, unit.sound == .opus else { return }
        waiting.append(unit)
        while let oldest = waiting.first, unit.pts &- oldest.pts > Self.longest {
            _ = waiting.popFirst()
            lost += 1
        }
        drain()
    }

    // MARK: Viewer

    /// The counters, which stay at zero because it gets no pictures.
    var counters: DeliveryCounters { DeliveryCounters() }

    var progress: ViewerProgress { ViewerProgress(taken: taken, isIdle: waiting.isEmpty, resyncs: lost) }

    func drain() {
        var hasWritten = false
        while channel.isWritable, let unit = waiting.popFirst() {
            hasWritten = true
            channel.write(ScrcpyFraming.soundPacket(of: unit), promise: nil)
            taken += 1
        }
        if hasWritten { channel.flush() }
    }
}
