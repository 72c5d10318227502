import Media
import NIOCore
import Packaging

/// A viewer of a session's sound alone, over HTTP.
///
/// Its time goes on while nothing plays: it gets packets of silence then.
@MediaLoop
final class SoundViewer: PullingViewer, Sink {
    /// The formats of sound alone.
    enum Format: Sendable {
        /// Opus in Ogg.
        case ogg
        /// AAC in ADTS.
        case adts

        /// The response's media type.
        var mediaType: String {
            switch self {
            case .ogg: "audio/ogg"
            case .adts: "audio/aac"
            }
        }

        /// The codec that it carries.
        var codec: SoundCodec {
            switch self {
            case .ogg: .opus
            case .adts: .aac
            }
        }
    }

    private enum Muxer {
        case ogg(OggOpus, last: OggPage?)
        case adts(ADTSStream)
    }

    /// Packets that wait.
    private struct Piece {
        let bytes: ByteBuffer
        /// Their end, in samples.
        let position: Int64
    }

    /// How often it looks whether silence is due.
    private static let interval = TimeAmount.milliseconds(200)
    /// The longest sound that waits, in samples: 10 s. Players know from the numbers of Ogg's pages that some are
    /// missing.
    private static let longest: Int64 = 480_000

    let channel: any Channel
    /// Returns the present PTS, µs.
    private let clock: @MediaLoop () -> Int64
    private let codec: SoundCodec
    private var muxer: Muxer
    private var fill: SilenceFill
    private var pieces = CircularBuffer<Piece>()
    private var waitingBytes = 0
    /// The header, until it is sent.
    private var header: ByteBuffer?
    private var waiter: CheckedContinuation<StreamPiece?, Never>?
    private(set) var hasEnded = false
    /// Bytes of the last piece, until the next one is requested.
    private var sending = 0
    /// The numbers of pieces that the connection has taken, and that were dropped because it was too slow.
    private var (taken, lost): (UInt64, UInt64) = (0, 0)

    /// Creates a viewer whose stream begins now.
    ///
    /// - Parameter clock: Returns the present PTS, µs.
    init(channel: any Channel, format: Format, clock: @escaping @MediaLoop () -> Int64) {
        (self.channel, self.clock, codec) = (channel, clock, format.codec)
        let origin = clock()
        fill = SilenceFill(codec, isCounted: format == .adts)
        switch format {
        case .ogg:
            // Another number for each viewer.
            let serial = UInt32(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds)
            let ogg = OggOpus(channels: 2, serial: serial, origin: origin)
            muxer = .ogg(ogg, last: nil)
            header = ByteBuffer(bytes: ogg.header)
        case .adts: muxer = .adts(ADTSStream(.stereo))
        }
        // The first time that it hears of is where the stream begins.
        _ = fill.times(before: origin)
        fillLater()
    }

    // MARK: Sink

    var demand: Demand { Demand(video: .none, audio: [codec]) }
    var isUse: Bool { true }

    func take(_ item: StreamItem) {
        guard case .unit(let unit) = item, unit.sound == codec, let samples = unit.samples,
            let silence = fill.times(before: unit.header, lasting: samples)
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
        // A page of Ogg takes 255 of them.
        while let first = rest.first {
            write(rest.prefix(250).map { _ in ByteBuffer(bytes: fill.codec.silence) }, at: first)
            rest = rest.dropFirst(250)
        }
    }

    private func write(_ packets: [ByteBuffer], at pts: Int64) {
        guard !hasEnded else { return }
        switch muxer {
        case .ogg(var ogg, _):
            guard let page = try? ogg.page(of: packets, at: pts) else { return }
            muxer = .ogg(ogg, last: page)
            append(page)
        case .adts(var adts):
            guard let frames = try? adts.frames(of: packets) else { return }
            muxer = .adts(adts)
            append(Piece(bytes: ByteBuffer(bytes: frames), position: adts.position))
        }
    }

    private func append(_ page: OggPage) {
        append(Piece(bytes: ByteBuffer(bytes: page.bytes), position: page.position))
    }

    private func append(_ piece: Piece) {
        pieces.append(piece)
        waitingBytes += piece.bytes.readableBytes
        while let oldest = pieces.first, piece.position &- oldest.position > Self.longest {
            _ = pieces.popFirst()
            waitingBytes -= oldest.bytes.readableBytes
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
        guard let piece = pieces.popFirst() else { return nil }
        sending = piece.bytes.readableBytes
        waitingBytes -= sending
        return StreamPiece(body: piece.bytes)
    }

    // MARK: Viewer

    /// Unlike other viewers' units, its pieces are its own, so those that wait count too.
    var underWay: Int { waitingBytes + sending }

    /// The counters, which stay at zero because it gets no pictures.
    var counters: DeliveryCounters { DeliveryCounters() }

    var progress: ViewerProgress { ViewerProgress(taken: taken, isIdle: pieces.isEmpty, resyncs: lost) }

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
        if case .ogg(_, let last?) = muxer { append(last.ending) }
        hasEnded = true
        waiter?.resume(returning: nil)
        waiter = nil
    }
}

extension Session {
    /// Returns a new viewer, or `nil` if there is no room for it.
    func makeSoundViewer(on channel: any Channel, format: SoundViewer.Format) -> SoundViewer? {
        let viewer = SoundViewer(channel: channel, format: format) { [weak self] in
            self?.pts(at: NIODeadline.now().uptimeNanoseconds) ?? 0
        }
        return admit(viewer) ? viewer : nil
    }
}
