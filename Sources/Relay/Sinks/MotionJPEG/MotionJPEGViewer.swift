import Media
import NIOCore
import Wire

/// A viewer of `multipart/x-mixed-replace`. Each part is a JPEG: the newest when the connection has room for it.
@MediaLoop
final class MotionJPEGViewer: PullingViewer, Sink {
    private nonisolated static let boundary = "heliograph-snapshot"

    /// The response's media type.
    nonisolated static let mediaType = "multipart/x-mixed-replace; boundary=\(boundary)"

    let channel: any Channel
    private let epoch: UInt64
    private let snapshots: SessionSnapshots
    private var pacing: SnapshotPacing
    private var last: ByteBuffer?
    /// When the frame of the last picture was captured, ns.
    private var shown: UInt64?
    private var sleeper: (continuation: CheckedContinuation<Void, Never>, timer: Scheduled<Void>)?
    private(set) var hasEnded = false
    /// Bytes of the last part, until the next one is requested.
    private(set) var underWay = 0
    /// The number of parts that the connection has taken.
    private var taken: UInt64 = 0

    /// Creates a viewer that has not begun.
    ///
    /// - Parameters:
    ///   - channel: The connection that the response goes to.
    ///   - epoch: The session's epoch, monotonic ns.
    ///   - fps: Most snapshots per second.
    init(channel: any Channel, epoch: UInt64, fps: Int, snapshots: SessionSnapshots) {
        self.channel = channel
        self.epoch = epoch
        self.snapshots = snapshots
        pacing = SnapshotPacing(fps: fps)
    }

    // MARK: Sink

    var demand: Demand { Demand(video: .changes) }

    /// Notes changes of the screen. The pictures themselves are not used.
    func take(_ item: StreamItem) {
        guard case .unit(let unit) = item, unit.isVideo else { return }
        let captured = unit.header.captured
        defer { shown = captured }
        // A frame may appear first in a repeat, if its own picture was lost on the way.
        guard captured != shown, shown != nil || !unit.header.flags.contains(.repeat) else { return }
        if pacing.screenChanged() { wake() }
    }

    // MARK: Viewer

    /// The counters, which stay at zero because it gets no access units.
    var counters: DeliveryCounters { DeliveryCounters() }

    /// How far the viewer has come. A part that is being sent counts as waiting.
    var progress: ViewerProgress { ViewerProgress(taken: taken, isIdle: underWay == 0, resyncs: 0) }

    /// Returns the next bytes of the response, or `nil` at its end. One task calls it.
    func next() async -> StreamPiece? {
        if underWay > 0 { taken += 1 }
        underWay = 0
        let part = await nextPart()
        underWay = part?.readableBytes ?? 0
        return part.map { StreamPiece(body: $0) }
    }

    private func nextPart() async -> ByteBuffer? {
        while !hasEnded {
            switch pacing.next(now: .now()) {
            case .wait(let instant):
                await sleep(until: instant)
            case .sendAgain:
                pacing.sent(now: .now())
                if let last { return last }
            case .get(let since):
                pacing.began(now: .now())
                switch await snapshots.snapshot(.jpeg, since: since) {
                case .success(let snapshot):
                    pacing.sent(now: .now())
                    let part = part(snapshot)
                    defer { last = part }
                    return last == nil ? Self.opening(part) : part
                case .failure:
                    pacing.failed(now: .now())
                }
            }
        }
        return nil
    }

    /// Returns the first part, after the delimiter that opens it.
    private static func opening(_ part: ByteBuffer) -> ByteBuffer {
        var bytes = ByteBuffer(string: "--\(boundary)\r\n")
        bytes.writeImmutableBuffer(part)
        return bytes
    }

    /// Returns the snapshot with its header fields, and the delimiter after it: browsers show a part when they see
    /// that.
    private func part(_ snapshot: KeptSnapshot) -> ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeString("Content-Type: image/jpeg\r\nContent-Length: \(snapshot.bytes.readableBytes)\r\n")
        for (name, value) in snapshot.fields(epoch: epoch) { bytes.writeString("\(name): \(value)\r\n") }
        bytes.writeString("\r\n")
        bytes.writeImmutableBuffer(snapshot.bytes)
        bytes.writeString("\r\n--\(Self.boundary)\r\n")
        return bytes
    }

    private func sleep(until instant: NIODeadline) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let timer = MediaLoop.schedule(at: instant) { [weak self] in self?.wake() }
                sleeper = (continuation, timer)
            }
        } onCancel: {
            Task { @MediaLoop in self.finish() }
        }
    }

    private func wake() {
        guard let sleeper else { return }
        self.sleeper = nil
        sleeper.timer.cancel()
        sleeper.continuation.resume()
    }

    func end() {
        hasEnded = true
        wake()
    }
}

extension Session {
    /// Returns a new viewer, or `nil` if there is no room for it.
    func makeMotionJPEGViewer(on channel: any Channel, fps: Int) -> MotionJPEGViewer? {
        let viewer = MotionJPEGViewer(channel: channel, epoch: epoch, fps: fps, snapshots: snapshots)
        return admit(viewer) ? viewer : nil
    }
}
