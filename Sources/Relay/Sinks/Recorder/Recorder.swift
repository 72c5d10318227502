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
    private let worker: Worker
    private let figures: RecordingFigures
    private let hasSound: Bool

    /// Begins to record.
    ///
    /// - Parameter changed: Called on the media loop.
    init(
        _ plan: RecordingWriter.Plan,
        library: Library,
        hasSound: Bool,
        changed: @escaping @MediaLoop @Sendable (RecordingFigures.Change) -> Void
    ) {
        self.hasSound = hasSound
        figures = RecordingFigures { change in
            MediaLoop.eventLoop.execute { MediaLoop.assumeIsolated { changed(change) } }
        }
        worker = Worker(plan, library: library, figures: figures)
    }

    var state: RecordingFigures.State { figures.current }

    // MARK: Sink

    var demand: Demand { Demand(video: .changes, audio: hasSound ? [.opus] : []) }

    var starves: Bool { worker.handOver.starves || figures.needsKeyframe }

    func take(_ item: StreamItem) { worker.handOver.push(item) }

    // MARK: Life

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
/// It wakes twice a second, whatever the stream does: a crash costs that much of the recording.
private final class Worker: Sendable {
    private static let interval = TimeAmount.milliseconds(500)

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
