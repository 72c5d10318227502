import Media
import NIOCore
import Packaging

/// A viewer of a session's sound alone, as an Ogg stream over HTTP.
///
/// Its time goes on while nothing plays: it gets packets of silence then.
@MediaLoop
final class OggViewer: PullingViewer, Sink {
    /// The response's media type.
    nonisolated static let mediaType = "audio/ogg"

    /// How often it looks whether silence is due.
    private static let interval = TimeAmount.milliseconds(200)
    /// The longest sound that waits, in samples: 10 s. Players know from the pages' numbers that some are missing.
    private static let longest: Int64 = 480_000

    let channel: any Channel
    /// Returns the present PTS, µs.
    private let clock: @MediaLoop () -> Int64
    private var muxer: OggOpus
    private var fill = SilenceFill()
    private var pages = CircularBuffer<OggPage>()
    private var waitingBytes = 0
    /// The header, until it is sent.
    private var header: ByteBuffer?
    private var last: OggPage?
    private var waiter: CheckedContinuation<StreamPiece?, Never>?
    private(set) var hasEnded = false
    /// Bytes of the last piece, until the next one is requested.
    private var sending = 0
    /// The numbers of pages that the connection has taken, and that were dropped because it was too slow.
    private var (taken, lost): (UInt64, UInt64) = (0, 0)

    /// Creates a viewer whose stream begins now.
    ///
    /// - Parameter clock: Returns the present PTS, µs.
    init(channel: any Channel, clock: @escaping @MediaLoop () -> Int64) {
        (self.channel, self.clock) = (channel, clock)
        let origin = clock()
        // Another number for each viewer.
        let serial = UInt32(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds)
        muxer = OggOpus(channels: 2, serial: serial, origin: origin)
        header = ByteBuffer(bytes: muxer.header)
        // The first time that it hears of is where the stream begins.
        _ = fill.times(before: origin)
        fillLater()
    }

    // MARK: Sink

    var demand: Demand { Demand(video: .none, audio: true) }
    var isUse: Bool { true }

    func take(_ item: StreamItem) {
        guard case .unit(let unit) = item, !unit.isVideo, let packet = unit.bytes.read({ OpusPacket($0) }),
            let silence = fill.times(before: unit.header, lasting: packet.microseconds)
        else { return }
        write(silence)
        write([unit.bytes], at: unit.pts)
    }

    // MARK: Writing

    private func fillLater() {
        MediaLoop.schedule(at: .now() + Self.interval) { [weak self] in
            guard let self, !hasEnded else { return }
            write(fill.times(before: clock()))
            fillLater()
        }
    }

    /// Writes packets of silence, which follow each other.
    private func write(_ silence: [Int64]) {
        var rest = silence[...]
        // A page takes 255 of them.
        while let first = rest.first {
            write(rest.prefix(250).map { _ in ByteBuffer(bytes: SilenceFill.packet) }, at: first)
            rest = rest.dropFirst(250)
        }
    }

    private func write(_ packets: [ByteBuffer], at pts: Int64) {
        guard !hasEnded, let page = try? muxer.page(of: packets, at: pts) else { return }
        last = page
        append(page)
    }

    private func append(_ page: OggPage) {
        pages.append(page)
        waitingBytes += page.bytes.count
        while let oldest = pages.first, page.position &- oldest.position > Self.longest {
            _ = pages.popFirst()
            waitingBytes -= oldest.bytes.count
            lost += 1
        }
        guard let waiter, let piece = nextPiece() else { return }
        self.waiter = nil
        waiter.resume(returning: piece)
    }

    private func nextPiece() -> StreamPiece? {
        if let header {
            self.header = nil
            sending = header.readableBytes
            return StreamPiece(body: header)
        }
        guard let page = pages.popFirst() else { return nil }
        sending = page.bytes.count
        waitingBytes -= sending
        return StreamPiece(body: ByteBuffer(bytes: page.bytes))
    }

    // MARK: Viewer

    /// Unlike other viewers' units, its pages are its own, so those that wait count too.
    var underWay: Int { waitingBytes + sending }

    /// The counters, which stay at zero because it gets no pictures.
    var counters: DeliveryCounters { DeliveryCounters() }

    var progress: ViewerProgress { ViewerProgress(taken: taken, isIdle: pages.isEmpty, resyncs: lost) }

    func next() async -> StreamPiece? {
        if sending > 0 { taken += 1 }
        sending = 0
        if let piece = nextPiece() { return piece }
        if hasEnded { return nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter = $0 }
        } onCancel: {
            Task { @MediaLoop in self.finish() }
        }
    }

    func end() {
        if let last { append(last.ending) }
        hasEnded = true
        waiter?.resume(returning: nil)
        waiter = nil
    }
}

extension Session {
    /// Returns a new viewer, or `nil` if there is no room for it.
    func makeOggViewer(on channel: any Channel) -> OggViewer? {
        let viewer = OggViewer(channel: channel) { [weak self] in
            self?.pts(at: NIODeadline.now().uptimeNanoseconds) ?? 0
        }
        return admit(viewer) ? viewer : nil
    }
}
