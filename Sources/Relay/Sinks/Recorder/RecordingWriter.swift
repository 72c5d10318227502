import FoundationEssentials
package import HeliographAPI
package import Library
package import Media
import NIOCore
import Packaging
import SystemPackage

/// Writes a session's stream to files. One thread owns it, and waits while the disk does.
///
/// A file begins with a keyframe. Another one begins when parameter sets, tracks or the orientation change, and at a
/// keyframe after ``Limits``. No picture is lost between two files.
package final class RecordingWriter {
    /// When another file begins.
    package struct Limits: Sendable {
        /// In µs.
        package var duration: Int64 = 3_600_000_000
        package var bytes: UInt64 = 8 << 30
    }

    /// What is recorded, and where to.
    package struct Plan: Sendable {
        /// The recording's id, the device, the session and the frame rate. The rest is filled in for each file.
        package var facts: ItemFacts
        package var tracks: [MediaTrack]
        /// The monotonic instant of PTS 0, in ns.
        package var epoch: UInt64
        package var when: RecordWhen
        package var limits = Limits()
        var sound: RecordedSound
        /// The tracks that are recorded.
        var recorded: [MediaTrack] { sound.tracks(of: tracks) }

        /// A recording stops when its disk has fewer free bytes.
        package var freeBytes: UInt64

        package init(
            facts: ItemFacts,
            tracks: [MediaTrack],
            epoch: UInt64,
            when: RecordWhen = .always,
            sound: RecordedSound = .opus,
            freeBytes: UInt64
        ) {
            (self.facts, self.tracks, self.epoch) = (facts, tracks, epoch)
            (self.when, self.sound, self.freeBytes) = (when, sound, freeBytes)
        }
    }

    /// The file that is being written.
    private struct Current {
        var movie: HybridMovie<ByteBuffer>
        let file: RecordingFile
        let tracks: [MediaTrack]
        var facts: ItemFacts
        /// The number of bytes in the file.
        var size: UInt64 = 0
        /// Its id in the library.
        let id: Int64
        let origin: Int64
        let orientation: UInt8
        var storyboard: Storyboard
        /// The time to which the file lasts on the disk, as a PTS in µs.
        var synced: Int64
        /// What the library was told last: when, as a PTS in µs, and how many gaps.
        var told: (time: Int64, gaps: Int)

        /// Returns what is in the file; `nil` if it has no picture.
        mutating func contents(endingAt pts: Int64) -> MovieIndex? {
            // A fragment that could not be written is in the movie, but not in the file.
            guard size == movie.size else {
                return try? RecordingScan(size: size) { [file] in file.read(at: $0, count: $1) }.index
            }
            return movie.contents(endingAt: pts)
        }
    }

    /// How often the file waits for the disk while the screen is static, in µs: a little less than two ticks.
    private static let syncInterval: Int64 = 850_000
    /// How often the owner must call ``tick(now:)``, in µs.
    package static let tickInterval: Int64 = 450_000
    /// How often the library is told, in µs.
    private static let tellingInterval: Int64 = 10_000_000
    /// How long a static screen is written, in µs, and the most pictures that are kept for the next change, if only
    /// changes are.
    private static let (calm, mostWaiting): (Int64, Int) = (10_000_000, 2000)

    private let library: Library
    private let figures: RecordingFigures
    private var plan: Plan
    private var current: Current?
    private var elision = RepeatElision<ByteBuffer>()
    /// The PTS of the last picture of the stream, in µs.
    private var lastPicture: Int64?
    /// The PTS of the last picture in the file, in µs.
    private var lastWritten: Int64 = 0
    /// A gap that has begun: its PTS, and the reason.
    private var gap: (start: Int64, reason: String)?
    /// Files that have ended, and that the disk has not let complete, or the catalogue has not taken.
    private var unfinished: [(file: Current, index: MovieIndex)] = []
    /// Until when nothing is written after a failure, on the clock of PTS.
    private var pause: Int64?
    /// When the screen changed last, as a PTS in µs.
    private var lastChange: Int64?
    /// The pictures since the last keyframe, while no file is written because the screen does not change.
    private var waiting: [EncodedUnit<ByteBuffer>] = []

    package init(_ plan: Plan, library: Library, figures: RecordingFigures) {
        self.plan = plan
        self.library = library
        self.figures = figures
    }

    // MARK: The stream

    /// Takes the stream's next item.
    ///
    /// - Parameter now: The PTS that a picture of this moment would have, in µs.
    package func take(_ item: HandOver.Item, now: Int64) {
        switch item {
        case .item(.unit(let unit)): take(unit, now: now)
        case .gap(let lost):
            guard lost.track == MediaTrack.videoID else { return }
            elision.restart()
            beginGap(at: lastPicture ?? now, "queue_full")
        case .item(.feed(let feed)): if feed == .none { sourceLost(now: now) }
        case .item(.sourceLost): sourceLost(now: now)
        case .item(.tracks(let tracks)):
            plan.tracks = tracks
            // It begins another file.
            if current != nil { figures.needsKeyframe = hasOtherTracks }
        case .item(.end): end(now: now)
        }
    }

    /// Whether the file lacks a track, or has one that nothing comes of.
    private var hasOtherTracks: Bool { current.map { $0.tracks != plan.recorded } ?? false }

    private func take(_ unit: MediaUnit, now: Int64) {
        let encoded = EncodedUnit(unit.header, unit.bytes)
        guard unit.isVideo else { return write(encoded, now: now) }
        if let pause, now < pause { return }
        endGap(at: unit.pts)
        lastPicture = unit.pts
        let isChange = !unit.header.flags.contains(.repeat)
        if isChange { lastChange = unit.pts }
        // Each copy of a static screen's keyframe is a later beginning for the next file, or its first picture.
        if unit.isKey, hasOtherTracks || plan.when == .changed && current == nil { elision.restart() }
        for picture in elision.take(encoded) {
            if plan.when == .changed, current == nil { hold(picture) } else { write(picture, now: now) }
        }
        guard isChange, !waiting.isEmpty else { return }
        let pictures = waiting
        waiting = []
        for picture in pictures { write(picture, now: now) }
    }

    /// Keeps a picture for the next change of the screen.
    private func hold(_ picture: EncodedUnit<ByteBuffer>) {
        if picture.isKey {
            waiting = [picture]
            figures.needsKeyframe = false
        } else if !waiting.isEmpty, waiting.count < Self.mostWaiting {
            waiting.append(picture)
        } else {
            waiting = []
            elision.restart()
            figures.needsKeyframe = true
        }
    }

    /// Begins a gap. The loss was after the last picture, and since the last tick.
    private func sourceLost(now: Int64) {
        beginGap(at: max(lastPicture ?? now, now - Self.tickInterval), "source_lost")
    }

    private func beginGap(at pts: Int64, _ reason: String) {
        guard gap == nil, current != nil else { return }
        gap = (pts, reason)
    }

    private func endGap(at pts: Int64) {
        guard let gap, pts > gap.start else { return }
        self.gap = nil
        // The other agent may have gone on at once.
        guard Double(pts - gap.start) >= 2e6 / max(1, plan.facts.fps) else { return }
        figures.gapEnded(lasting: pts - gap.start)
        // One between two files shows in their times.
        guard let origin = current?.origin, pts > origin else { return }
        let start = max(0, gap.start - origin)
        let found = ItemFacts.Gap(start: start, length: pts - origin - start, reason: gap.reason)
        current?.movie.append(note: RecordingNote.bytes(RecordingNote.Gap(found)))
        current?.facts.gaps.append(found)
    }

    /// Adds a small picture of the screen to the file's storyboard.
    ///
    /// - Parameters:
    ///   - jpeg: The picture.
    ///   - pts: When it was captured, as a PTS in µs.
    package func addPreview(_ jpeg: [UInt8], at pts: Int64) {
        guard let origin = current?.origin, let id = current?.id else { return }
        let isFirst = current?.storyboard.hasThumbnail == false
        current?.storyboard.add(jpeg, at: pts - origin)
        // The catalogue finds it at the relay's next start if this fails.
        if isFirst, current?.storyboard.hasThumbnail == true { try? library.setCompanions(id, thumbnail: true) }
    }

    // MARK: Files

    private func write(_ unit: EncodedUnit<ByteBuffer>, now: Int64) {
        let isVideo = unit.header.track == MediaTrack.videoID
        if isVideo, needsOtherFile(for: unit) { end(at: unit.pts) }
        if isVideo, isFull(before: unit) { end(at: unit.pts, goesOn: true) }
        if current == nil {
            guard isVideo else { return }
            guard unit.isKey, begin(with: unit, now: now) else {
                // What the file would need is not in it.
                elision.restart()
                if pause == nil { figures.needsKeyframe = true }
                return
            }
        }
        if current?.movie.isFragmentDue(at: unit.pts) == true { writeFragment(now: now) }
        // A picture that cannot be packaged is left out, and the movie continues at the next keyframe.
        try? current?.movie.append(unit)
        if isVideo { lastWritten = unit.pts }
    }

    /// Whether the file cannot have a picture.
    private func needsOtherFile(for unit: EncodedUnit<ByteBuffer>) -> Bool {
        guard let current else { return false }
        // Durations in the file have 32 bits.
        if unit.pts - lastWritten > Int64(UInt32.max) { return true }
        guard unit.isKey else { return false }
        return current.tracks != plan.recorded || unit.header.orientation != current.orientation
            || current.movie.needsAnotherFile(for: unit)
    }

    /// Whether another file goes on with a picture, because of the limits.
    private func isFull(before unit: EncodedUnit<ByteBuffer>) -> Bool {
        guard let current, unit.isKey else { return false }
        return unit.pts - current.origin >= plan.limits.duration || current.movie.size >= plan.limits.bytes
    }

    private func begin(with unit: EncodedUnit<ByteBuffer>, now: Int64) -> Bool {
        var facts = plan.facts
        facts.anchor = Int64(clamping: plan.epoch) + unit.pts * 1000
        // Not `now`: the former file's end may have taken a while.
        let age = (Int64(clamping: NIODeadline.now().uptimeNanoseconds) - facts.anchor) / 1000
        facts.start = (Int64(exactly: (Date().timeIntervalSince1970 * 1e6).rounded()) ?? 0) - max(0, age)
        (facts.width, facts.height) = (
            Int64(clamping: unit.header.size.width), Int64(clamping: unit.header.size.height)
        )
        let path = LibraryLayout.path(for: facts)
        do {
            let file = try RecordingFile(creating: FilePath(library.prepareFolder(for: path)))
            var isBegun = false
            // Else the next try finds the path taken.
            defer { if !isBegun { try? file.remove() } }
            guard try file.freeBytes() >= plan.freeBytes else { throw Errno.noSpace }
            current = Current(
                movie: HybridMovie(
                    tracks: plan.recorded,
                    fps: max(1, Int(exactly: facts.fps) ?? 1),
                    place: .sampleEntry,
                    note: RecordingNote.bytes(RecordingNote.Beginning(facts))
                ),
                file: file,
                tracks: plan.recorded,
                facts: facts,
                id: try library.begin(facts, path: path),
                origin: unit.pts,
                orientation: unit.header.orientation,
                storyboard: Storyboard(of: file.path.string),
                synced: unit.pts,
                told: (unit.pts - Self.tellingInterval, 0)
            )
            isBegun = true
        } catch {
            // A crash may have left a file that the catalogue does not know.
            if error as? Errno == .fileExists { plan.facts.number += 1 }
            fails(.init(error), now: now)
            return false
        }
        plan.facts.number += 1
        pause = nil
        if let id = current?.id { figures.began(id, at: facts.start, pts: unit.pts) }
        finishFiles()
        return true
    }

    /// Does what is due: writes the fragment that is being made, or the time until which the last picture lasts.
    ///
    /// - Parameter now: As in ``take(_:now:)``.
    package func tick(now: Int64) {
        guard current != nil else {
            if let pause, now >= pause {
                self.pause = nil
                figures.needsKeyframe = true
                finishFiles()
            }
            return
        }
        if plan.when == .changed, let lastChange, now - lastChange >= Self.calm {
            end(now: now)
            elision.restart()
            figures.needsKeyframe = true
            return
        }
        if current?.movie.hasUnits == true { return writeFragment(now: now) }
        guard let synced = current?.synced, let step = current?.movie.duration(at: now) else { return }
        let isSynced = now - synced >= Self.syncInterval
        do throws(Errno) { try current?.file.write(step.bytes, at: step.offset, synchronizing: isSynced) } catch {
            return fails(.init(error), now: now)
        }
        if isSynced { current?.synced = now }
        tell(duration: now)
    }

    private func writeFragment(now: Int64) {
        guard let size = current?.movie.size, let bytes = current?.movie.takeBytes(), !bytes.isEmpty else { return }
        do throws(Errno) {
            try current?.file.append(bytes, at: size)
            current?.size = size + UInt64(bytes.count)
            current?.synced = now
            guard try current?.file.freeBytes() ?? 0 >= plan.freeBytes else { throw .noSpace }
        } catch {
            return fails(.init(error), now: now)
        }
        tell(duration: now)
    }

    /// Tells the figures how far the file has come, and now and then the library.
    private func tell(duration now: Int64) {
        guard let index = current?.movie.index, let origin = current?.origin, let size = current?.movie.size else {
            return
        }
        let duration = max(now - origin, Int64(clamping: index.lastTime))
        figures.grew(duration: duration, bytes: size)
        guard let id = current?.id, let told = current?.told, let gaps = current?.facts.gaps,
            now - told.time >= Self.tellingInterval
        else { return }
        current?.told = (now, gaps.count)
        // A catalogue that cannot be written now is corrected at the file's end, or at the relay's next start.
        try? library.update([
            ItemProgress(
                id: id,
                duration: duration,
                bytes: Int64(clamping: size),
                keyframes: Int64(clamping: index.video?.samples.syncs.count ?? 0),
                gaps: gaps.count == told.gaps ? nil : gaps
            )
        ])
    }

    /// Ends the file after a failure of the disk, and tries again a little later.
    private func fails(_ failure: RecordingFailure, now: Int64) {
        figures.failed(failure)
        let reason = failure == .diskFull ? "disk_full" : "disk_error"
        end(at: now, reports: false)
        gap = (now, reason)
        elision.restart()
        pause = now + 5_000_000
    }

    /// Ends the recording.
    ///
    /// - Parameter now: As in ``take(_:now:)``.
    package func end(now: Int64) {
        endGap(at: now)
        end(at: max(now, (lastPicture ?? 0) + 1))
        finishFiles(isLast: true)
    }

    /// Completes the file.
    ///
    /// - Parameters:
    ///   - reports: Whether a failure is news; else it follows from one that is reported.
    ///   - goesOn: Whether another file of the same format begins there.
    private func end(at pts: Int64, reports: Bool = true, goesOn: Bool = false) {
        if let size = current?.size, let bytes = current?.movie.takeBytes(), !bytes.isEmpty {
            do throws(Errno) {
                try current?.file.append(bytes, at: size)
                current?.size = size + UInt64(bytes.count)
            } catch {
                if reports { figures.failed(.init(error)) }
            }
        }
        guard var ended = current else { return }
        current = nil
        guard let index = ended.contents(endingAt: pts) else {
            forget(ended)
            return figures.ended(goesOn: false)
        }
        ended.facts.update(from: index, bytes: ended.size)
        ended.storyboard.end(at: ended.facts.duration)
        unfinished.append((ended, index))
        if let failure = finishFiles(), reports { figures.failed(failure) }
        figures.ended(goesOn: goesOn)
    }

    /// Completes the files that have ended, and tells the catalogue. What fails is tried again later.
    ///
    /// - Parameter isLast: Whether there is no later try. A file that cannot be completed plays as it is.
    /// - Returns: What failed.
    @discardableResult
    private func finishFiles(isLast: Bool = false) -> RecordingFailure? {
        var failure: RecordingFailure?
        unfinished = unfinished.compactMap { (file, index) -> (file: Current, index: MovieIndex)? in
            var file = file
            do {
                if !file.facts.isComplete {
                    do throws(Errno) {
                        try file.file.complete(index.ending(at: file.size), after: file.size)
                        file.facts.isComplete = true
                    } catch {
                        guard isLast else { throw error }
                    }
                }
                file.facts.bytes = Int64(clamping: file.file.length)
                try library.finish(file.id, file.facts)
                if file.storyboard.isWritten { try? library.setCompanions(file.id, storyboard: true) }
                return nil
            } catch {
                failure = .init(error)
                return isLast ? nil : (file, index)
            }
        }
        return failure
    }

    /// Removes a file without pictures.
    private func forget(_ empty: Current) {
        try? library.finish(empty.id, empty.facts)
        _ = try? library.retire([empty.id])
        try? empty.file.remove()
    }
}
