import HeliographAPI
import Media
import NIOCore
import Packaging

/// A viewer of the bare stream or a container over HTTP.
@MediaLoop
final class HTTPViewer: PullingViewer, RenditionViewer {
    let channel: any Channel
    let format: StreamFormat
    let sound: SoundCodec?
    private let stopwatch: HandoverLatency.Stopwatch
    private(set) var queue: ViewerQueue
    private var waiter: CheckedContinuation<StreamPiece?, Never>?
    private(set) var hasEnded = false
    /// Bytes of the last piece, until the next one is requested. It does not include the connection's own buffer, which
    /// holds 64 KiB and a piece.
    private(set) var underWay = 0
    /// The PTS of the viewer's first picture, µs.
    private var origin: Int64?

    /// Creates a viewer that has not begun.
    ///
    /// - Parameters:
    ///   - channel: The connection that the response goes to.
    ///   - sound: The codec in which it wants the device's sound if the format can carry it; `nil` for no sound.
    init(
        channel: any Channel,
        format: StreamFormat,
        sound: SoundCodec?,
        limits: ViewerQueue.Limits,
        stopwatch: HandoverLatency.Stopwatch
    ) {
        self.stopwatch = stopwatch
        self.channel = channel
        self.format = format
        self.sound = format.carriesSound ? sound : nil
        queue = ViewerQueue(limits: limits)
    }

    var hasRoom: Bool { waiter != nil }

    func miss() { queue.miss() }

    func offer(_ unit: RenderedUnit) {
        queue.offer(unit)
        guard let waiter, let piece = nextPiece() else { return }
        self.waiter = nil
        underWay = piece.byteCount
        waiter.resume(returning: piece)
    }

    func next() async -> StreamPiece? {
        underWay = 0
        if let piece = nextPiece() {
            underWay = piece.byteCount
            return piece
        }
        if hasEnded { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter = $0 }
        } onCancel: {
            Task { @MediaLoop in self.finish() }
        }
    }

    private func nextPiece() -> StreamPiece? {
        // Sound from before the first picture is left out.
        while let entry = queue.next() {
            guard entry.unit.isVideo || origin.map({ entry.unit.pts >= $0 }) ?? false else { continue }
            return piece(of: entry, origin: origin ?? entry.unit.pts)
        }
        return nil
    }

    private func piece(of entry: ViewerQueue.Entry, origin: Int64) -> StreamPiece {
        let (unit, rendered) = (entry.unit, entry.rendered)
        stopwatch.handedOver(CollectionOfOne(unit.relayed))
        let isFirst = self.origin == nil
        self.origin = origin
        switch format {
        case .bare: return StreamPiece(body: rendered.bytes)
        case .container(.transportStream):
            // A keyframe's own packets do not show that pictures were lost before it.
            guard entry.lost > 0, !isFirst else { return StreamPiece(body: rendered.bytes) }
            let packets = TransportStream.discontinuity(before: rendered.bytes.readableBytesView)
            return StreamPiece(head: ByteBuffer(bytes: packets), body: rendered.bytes)
        case .container(.fragmentedMP4):
            let time = Int64(clamping: rendered.track.ticks(of: unit.pts - origin))
            return fragment(rendered.bytes, time: time, after: isFirst ? rendered.beginning : nil)
        }
    }

    /// Returns the fragment with a time of the viewer's own. Players treat the first one's time as a delay, or as part
    /// of the duration.
    private func fragment(_ bytes: ByteBuffer, time: Int64, after beginning: ByteBuffer?) -> StreamPiece {
        var body = bytes
        guard var head = body.readSlice(length: FragmentedMP4.headSize) else { return StreamPiece(body: bytes) }
        head.setInteger(time, at: head.readerIndex + FragmentedMP4.decodeTimeOffset)
        guard var first = beginning else { return StreamPiece(head: head, body: body) }
        first.writeImmutableBuffer(head)
        return StreamPiece(head: first, body: body)
    }

    func end() {
        hasEnded = true
        waiter?.resume(returning: nil)
        waiter = nil
    }
}

extension Session {
    /// Returns a new viewer, or `nil` if there is no room for it.
    func makeHTTPViewer(
        on channel: any Channel,
        format: StreamFormat,
        sound: SoundCodec?,
        join: Join?
    ) -> HTTPViewer? {
        let viewer = HTTPViewer(
            channel: channel,
            format: format,
            sound: sound,
            limits: viewerLimits,
            stopwatch: .init(handoverLatency)
        )
        return admit(viewer, join: join) ? viewer : nil
    }
}
