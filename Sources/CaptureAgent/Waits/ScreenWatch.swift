import CPixels
import Media
import Wire

/// The reason why a watch is refused.
struct WatchRefusal: Error, Equatable {
    let why: WatchReport.Refusal

    init(_ why: WatchReport.Refusal) { self.why = why }
}

/// A watch on a part of the screen. Times are monotonic ns.
///
/// Owned by one thread.
struct ScreenWatch {
    private let watch: Watch
    private let region: PictureRegion
    /// What the region is compared with; `nil` if every differing pixel is a change.
    private var reference: WatchReference?
    /// How many pixels may differ without counting as a difference.
    private let allowed: Int
    /// When the region's current content was first captured.
    private var shownSince: UInt64
    private var hasChanged = false
    /// The rectangle of the last change.
    private var box = PictureRegion(x: 0, y: 0, width: 0, height: 0)
    /// Whether the picture before the compared one differs.
    private var differs = false

    var id: UInt32 { watch.id }

    /// Starts with the content of `screen`.
    ///
    /// - Parameter captured: When that content was captured.
    init(_ watch: Watch, on screen: WatchedPicture, captured: UInt64) throws(WatchRefusal) {
        self.watch = watch
        shownSince = captured
        let whole = PictureRegion(screen.size)
        switch watch.goal {
        case .matches, .gone:
            let reference = try WatchReference(
                template: watch.template,
                x: watch.region.x,
                y: watch.region.y,
                in: screen
            )
            reference.compare(reference.region, with: screen, tolerance: watch.tolerance)
            region = reference.region
            self.reference = reference
        case .changed, .static:
            region = watch.region.isEmpty ? whole : watch.region
            guard whole.contains(region) else { throw WatchRefusal(.outside) }
            if watch.tolerance > 0 || watch.share > 0 || !watch.ignored.isEmpty {
                reference = WatchReference(region, of: screen, ignoring: watch.ignored)
            }
        }
        allowed = (reference?.pixelCount ?? 0) * Int(watch.share) / Watch.wholeShare
    }

    /// The number of bytes that the watch keeps.
    var byteCount: Int { reference == nil ? 0 : region.width * region.height * (PixelFormat.bytesPerPixel + 1) }

    /// Records that a part of the screen is about to be copied from `next`.
    mutating func willChange(_ part: PictureRegion, of screen: WatchedPicture, to next: Pixels) {
        guard reference == nil else { return }
        let part = region.intersection(part)
        let (before, after) = (screen.pixels.from(part), next.from(part))
        for row in 0..<(part.isEmpty ? 0 : part.height) {
            let span = cpixels_difference(before.row(row), after.row(row), part.width)
            guard span.end > span.first else { continue }
            let found = PictureRegion(x: part.x + span.first, y: part.y + row, width: span.end - span.first, height: 1)
            box = differs ? box.union(found) : found
            differs = true
        }
    }

    /// Records that the screen shows the next picture, which differs in these parts.
    ///
    /// - Parameter captured: When the picture was captured.
    mutating func changed(in parts: [PictureRegion], of screen: WatchedPicture, captured: UInt64) {
        if let reference {
            let own = parts.filter { !region.intersection($0).isEmpty }
            guard !own.isEmpty else { return }
            for part in own { reference.compare(part, with: screen, tolerance: watch.tolerance) }
            switch watch.goal {
            case .matches, .gone: shownSince = captured
            case .changed, .static:
                let found = reference.difference
                guard found.count > allowed else { return }
                (differs, box) = (true, found.box)
                reference.take(screen)
            }
        }
        guard differs else { return }
        (differs, hasChanged, shownSince) = (false, true, captured)
    }

    enum Verdict: Equatable {
        case met(captured: UInt64, box: PictureRegion)
        /// The goal is reached at that time, unless the screen changes first.
        case due(UInt64)
        /// The goal is not reached before the screen changes.
        case open
    }

    func verdict(now: UInt64) -> Verdict {
        switch watch.goal {
        case .changed where !hasChanged: return .open
        case .changed, .static:
            let due = shownSince + UInt64(watch.settled) * 1_000_000
            return now >= due ? .met(captured: shownSince, box: box) : .due(due)
        case .matches, .gone:
            let isMatch = (reference?.difference.count ?? 0) <= allowed
            return isMatch == (watch.goal == .matches) ? .met(captured: shownSince, box: region) : .open
        }
    }
}
