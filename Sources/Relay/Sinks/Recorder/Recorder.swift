import HeliographAPI
import Library
import Media
import NIOCore
import NIOPosix

/// The sink that records a session. It hands the stream to a thread of its own, which writes the files.
///
/// It wants changes only: repeats of a static screen are not written (``RepeatElision``). A disk that stalls makes a
/// gap in the recording, and delays nobody else.
@MediaLoop
final class Recorder: Sink {
    /// How long a recording goes on without a viewer, if it is written while it is watched.
    private static let patience = TimeAmount.seconds(10)
    /// The least time between two pictures of the storyboard.
    private static let previewInterval = TimeAmount.seconds(10)

    /// When the session is written.
    let when: RecordWhen
    /// The codecs in which the sound is wanted; `nil` for no sound.
    private let sound: RecordedSound?
    /// Those in which it is recorded.
    private var soundCodecs: Set<SoundCodec>
    private let worker: Worker
    private let figures: RecordingFigures
    /// Whether the stream goes to the file now.
    private var isOpen: Bool
    private var lastWatched = NIODeadline.now()
    /// Whether the screen has changed since the last picture of the storyboard, and when and in which file that was.
    private var hasChanged = true
    private var lastPreview: (time: NIODeadline, item: Int64)?
    private var isTakingPreview = false

    /// Begins to record.
    ///
    /// - Parameter changed: Called on the media loop.
    init(
        _ plan: RecordingWriter.Plan,
        library: Library,
        hasSound: Bool,
        changed: @escaping @MediaLoop @Sendable (RecordingFigures.Change) -> Void
    ) {
        (when, sound) = (plan.when, hasSound ? plan.sound : nil)
        soundCodecs = sound?.codecs(of: plan.tracks) ?? []
        isOpen = plan.when != .watched
        figures = RecordingFigures { change in
            MediaLoop.eventLoop.execute { MediaLoop.assumeIsolated { changed(change) } }
        }
        worker = Worker(plan, library: library, figures: figures)
    }

    var state: RecordingFigures.State { figures.current }

    /// Returns the PTS in µs since which some tracks of the session are in files of the same format; `nil` if they are
    /// not all being written.
    func since(with tracks: [MediaTrack]) -> Int64? {
        soundCodecs.isSuperset(of: tracks.compactMap(\.soundCodec)) ? figures.current.since : nil
    }

    // MARK: Sink

    var demand: Demand { isOpen ? Demand(video: .changes, audio: soundCodecs) : .none }

    /// A session with a `ttl` ends although it is recorded: else a script that crashed would record for ever.
    var isUse: Bool { false }

    var starves: Bool { isOpen && (worker.handOver.starves || figures.needsKeyframe) }

    func take(_ item: StreamItem) {
        if case .tracks(let tracks) = item {
            soundCodecs = sound?.codecs(of: tracks) ?? []
            return worker.handOver.push(item)
        }
        guard isOpen else { return }
        worker.handOver.push(item)
        if case .unit(let unit) = item, unit.isVideo, !unit.header.flags.contains(.repeat) { hasChanged = true }
    }

    // MARK: Life

    /// Takes what a viewer who joins now would get first: the cached group.
    func begin(with stream: SessionStream) {
        guard isOpen else { return }
        figures.needsKeyframe = true
        for unit in stream.join(now: .now()) { worker.handOver.push(.unit(unit)) }
    }

    /// Ends and begins files as viewers come and go, and takes pictures for the storyboard. Called periodically.
    func tick(_ session: Session) {
        follow(isWatched: session.viewerCount > 0, session.stream)
        takePreview(of: session)
    }

    private func takePreview(of session: Session) {
        guard isOpen, !isTakingPreview, let item = figures.current.item else { return }
        let isNew = lastPreview?.item != item
        let isDue = lastPreview.map { NIODeadline.now() - $0.time >= Self.previewInterval } ?? true
        guard isNew || hasChanged && isDue else { return }
        lastPreview = (.now(), item)
        (hasChanged, isTakingPreview) = (false, true)
        Task { [weak session, snapshots = session.snapshots] in
            let outcome = await snapshots.snapshot(.preview, since: .now())
            isTakingPreview = false
            // The recording may have ended meanwhile, and with it the thread.
            guard case .success(let snapshot) = outcome, session?.recorder === self else { return }
            worker.addPreview(snapshot)
        }
    }

    private func follow(isWatched: Bool, _ stream: SessionStream) {
        guard when == .watched else { return }
        if isWatched {
            lastWatched = .now()
            guard !isOpen else { return }
            isOpen = true
            begin(with: stream)
        } else if isOpen, .now() - lastWatched >= Self.patience {
            isOpen = false
            worker.handOver.push(.end)
        }
    }

    /// Ends the recording: completes its file after what has come so far.
    ///
    /// Waits for the disk.
    nonisolated func end() async {
        worker.handOver.push(.end)
        await worker.end()
    }
}

/// The thread that writes a recording: an event loop of its own, because it waits while the disk does.
///
/// It wakes a little more than twice a second, whatever the stream does: a crash costs that much of the recording, or
/// two such times of a static screen.
private final class Worker: Sendable {
    private static let interval = TimeAmount.microseconds(RecordingWriter.tickInterval)

    let handOver: HandOver
    private let group: MultiThreadedEventLoopGroup
    private let writer: NIOLoopBoundBox<RecordingWriter>
    private let epoch: UInt64
    private let ticks: RepeatedTask

    init(_ plan: RecordingWriter.Plan, library: Library, figures: RecordingFigures) {
        var limits = HandOver.Limits()
        (limits.units, limits.bytes) = (2000, 32 << 20)
        let handOver = HandOver(limits: limits) {}
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let writer = NIOLoopBoundBox.makeBoxSendingValue(
            RecordingWriter(plan, library: library, figures: figures),
            eventLoop: loop
        )
        let epoch = plan.epoch
        ticks = loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
            Self.write(handOver, writer.value, epoch: epoch)
        }
        (self.handOver, self.group, self.writer, self.epoch) = (handOver, group, writer, epoch)
    }

    func addPreview(_ snapshot: KeptSnapshot) {
        group.next().execute { [writer, epoch] in
            writer.value.addPreview(Array(snapshot.bytes.readableBytesView), at: snapshot.pts(epoch: epoch))
        }
    }

    /// Writes what has come, and ends the thread.
    func end() async {
        ticks.cancel()
        try? await group.next().submit { [handOver, writer, epoch] in
            Self.write(handOver, writer.value, epoch: epoch)
        }.get()
        try? await group.shutdownGracefully()
    }

    private static func write(_ handOver: HandOver, _ writer: RecordingWriter, epoch: UInt64) {
        let items = handOver.drain()
        let now = (Int64(clamping: NIODeadline.now().uptimeNanoseconds) - Int64(clamping: epoch)) / 1000
        for item in items { writer.take(item, now: now) }
        writer.tick(now: now)
    }
}
