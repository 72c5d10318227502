package import Media
package import Wire

/// All watches of one desk: one copy of the screen for each session size, and the watches that compare with it.
///
/// Owned by one thread.
package struct WatchRounds {
    /// A watch, which starts when there is a first picture.
    private struct Entry {
        let session: SessionID
        let watch: Watch
        var begun: ScreenWatch?
    }

    private struct Group {
        /// The copy of the screen; `nil` until a frame has come.
        var screen: WatchedPicture?
        var captured: UInt64 = 0
        var entries: [Entry] = []
    }

    /// The most bytes that all watches and copies of the screen may take. One watch on all of an 8K screen fits.
    private static let maximumMemory = 512 << 20

    private var groups: [RequestedSize: Group] = [:]
    private var refusals: [(session: SessionID, report: WatchReport)] = []

    package init() {}

    /// Adds a watch.
    ///
    /// - Parameter newest: The newest frame, if the screen still shows it.
    package mutating func add(_ watch: Watch, of session: SessionID, size: RequestedSize, newest: CapturedFrame?) {
        // The group's copy is updated first, because the new watch would otherwise start with an old picture.
        groups[size, default: Group()].entries.append(Entry(session: session, watch: watch))
        if let newest { follow(newest, size: size) }
        begin(size)
    }

    package mutating func refuse(_ watch: Watch, of session: SessionID, _ why: WatchReport.Refusal) {
        refusals.append((session, WatchReport(id: watch.id, outcome: .refusal(why))))
    }

    package mutating func remove(_ id: UInt32) {
        for size in groups.keys { groups[size]?.entries.removeAll { $0.watch.id == id } }
        groups = groups.filter { !$0.value.entries.isEmpty }
    }

    /// Makes all watches start again with the next frame.
    package mutating func interrupt() {
        for size in groups.keys { reset(size) }
    }

    private mutating func reset(_ size: RequestedSize) {
        groups[size]?.screen = nil
        for index in groups[size]?.entries.indices ?? 0..<0 { groups[size]?.entries[index].begun = nil }
    }

    /// Compares a frame.
    ///
    /// - Parameter size: Returns a session's current size, or `nil` if the session is gone.
    package mutating func follow(_ frame: CapturedFrame, size: (SessionID) -> RequestedSize?) {
        regroup(size)
        for size in groups.keys {
            follow(frame, size: size)
            begin(size)
        }
    }

    /// Moves the watches of sessions whose size has changed to another group.
    private mutating func regroup(_ size: (SessionID) -> RequestedSize?) {
        for (former, group) in groups {
            for entry in group.entries {
                let current = size(entry.session)
                guard current != former else { continue }
                remove(entry.watch.id)
                guard let current else {
                    refuse(entry.watch, of: entry.session, .unknownSession)
                    continue
                }
                groups[current, default: Group()].entries.append(Entry(session: entry.session, watch: entry.watch))
            }
        }
    }

    private mutating func follow(_ frame: CapturedFrame, size: RequestedSize) {
        // A frame in a DMA-BUF cannot be read; the source is asked for memory meanwhile.
        guard case .memory(let pixels) = frame.contents,
            let group = groups[size], group.screen == nil || group.captured < frame.captured
        else { return }
        let source = frame.description.size
        let fit = PictureFit(source: source, output: size.resolved(source: source))
        guard fit.isUnscaled, source.width >= fit.output.width, source.height >= fit.output.height else {
            // The content of a snapshot, without the pointer.
            let picture = PackedPicture(pixels, pointer: nil).fitted(fit)
            let rows = Pixels(first: picture.first, stride: picture.description.stride)
            return follow(rows, of: picture.description, captured: frame.captured, size: size)
        }
        pixels.withFirst { first in
            let rows = Pixels(
                first: first.assumingMemoryBound(to: UInt8.self),
                stride: frame.description.stride
            )
            var description = frame.description
            description.size = fit.output
            follow(rows, of: description, captured: frame.captured, size: size)
        }
    }

    private mutating func follow(
        _ pixels: Pixels,
        of description: FrameDescription,
        captured: UInt64,
        size: RequestedSize
    ) {
        guard var group = groups[size] else { return }
        // Moved out, so that it is changed in place.
        groups[size] = nil
        defer { groups[size] = group.entries.isEmpty ? nil : group }
        group.captured = captured
        guard let screen = group.screen, screen.size == description.size,
            screen.picture.description.format == description.format
        else {
            group.screen = nil
            for index in group.entries.indices { group.entries[index].begun = nil }
            guard memory + WatchedPicture.byteCount(of: description.size) <= Self.maximumMemory else {
                for entry in group.entries { refuse(entry.watch, of: entry.session, .busy) }
                group.entries = []
                return
            }
            let screen = WatchedPicture(size: description.size, format: description.format)
            screen.begin(with: pixels)
            group.screen = screen
            return
        }
        let parts = screen.follow(pixels) { part in
            for index in group.entries.indices {
                group.entries[index].begun?.willChange(part, of: screen, to: pixels)
            }
        }
        guard !parts.isEmpty else { return }
        for index in group.entries.indices {
            group.entries[index].begun?.changed(in: parts, of: screen, captured: captured)
        }
    }

    /// Starts the watches that were waiting for a picture.
    private mutating func begin(_ size: RequestedSize) {
        guard let group = groups[size], let screen = group.screen else { return }
        for entry in group.entries where entry.begun == nil {
            do throws(WatchRefusal) {
                let begun = try ScreenWatch(entry.watch, on: screen, captured: group.captured)
                guard memory + begun.byteCount <= Self.maximumMemory else { throw WatchRefusal(.busy) }
                if let index = groups[size]?.entries.firstIndex(where: { $0.watch.id == entry.watch.id }) {
                    groups[size]?.entries[index].begun = begun
                }
            } catch {
                remove(entry.watch.id)
                refuse(entry.watch, of: entry.session, error.why)
            }
        }
    }

    private var memory: Int {
        groups.values.reduce(0) { sum, group in
            let screen = group.screen.map { WatchedPicture.byteCount(of: $0.size) } ?? 0
            return group.entries.reduce(sum + screen) { $0 + ($1.begun?.byteCount ?? 0) }
        }
    }

    /// When a watch must be checked even without a frame, in monotonic ns; `nil` for never.
    package var nextTime: UInt64? {
        groups.values.flatMap(\.entries).compactMap { entry in
            if case .due(let time) = entry.begun?.verdict(now: 0) { time } else { nil }
        }.min()
    }

    /// Removes and returns the answers that are ready.
    package mutating func answers(now: UInt64) -> [(session: SessionID, report: WatchReport)] {
        var answers = refusals
        refusals = []
        for entry in groups.values.flatMap(\.entries) {
            guard case .met(let captured, let box) = entry.begun?.verdict(now: now) else { continue }
            answers.append(
                (entry.session, WatchReport(id: entry.watch.id, outcome: .happened(captured: captured, box: box)))
            )
            remove(entry.watch.id)
        }
        return answers
    }
}
