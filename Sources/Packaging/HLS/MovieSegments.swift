import Media

/// The places at which a recording is cut into segments of HLS (RFC 8216, 3).
///
/// Segments begin at keyframes where these are near enough. Elsewhere, above all while the screen is static, they are
/// cut after ``longest``, and a segment then repeats the pictures since the keyframe before it (``MovieSegment``). So
/// the target duration is the same whatever the screen did.
///
/// A recording that grows has the same segments later, and more.
package struct MovieSegments: Sendable, Equatable {
    /// The longest segment, in µs.
    package static let longest: UInt64 = 6_000_000
    /// How much later than the pictures of its time sound may be recorded, in µs: a standby agent continues with the
    /// last second.
    package static let lateness: UInt64 = 2_000_000
    /// The most segments: a week. What follows in the movie is left out.
    private static let most = 100_000

    /// When each segment begins and the last one ends, in µs of the movie's time; empty without segments.
    package let bounds: [UInt64]
    /// The bytes of each segment's samples, of all tracks.
    package let sizes: [UInt64]
    /// What the tracks are.
    package let tracks: [TrackDescription]

    /// - Parameters:
    ///   - index: The recording's.
    ///   - isComplete: Whether the recording has ended. If not, segments end before its last picture, or a little
    ///     earlier if it has sound, because later times may yet get samples.
    package init(of index: MovieIndex, isComplete: Bool) {
        tracks = index.tracks.map(\.description)
        guard let video = index.video, let first = video.samples.times.first, let last = video.samples.times.last else {
            (bounds, sizes) = ([], [])
            return
        }
        let scale = video.description.timescale
        func time(_ ticks: UInt64) -> UInt64 { MovieHeader.duration(ticks, of: scale) }
        let hasSound = tracks.contains { $0.kind == .audio }
        let written = time(last) &- (hasSound ? min(time(last), Self.lateness) : 0)
        let end = isComplete ? max(index.end, time(last) &+ 1) : written
        var bounds = [time(first)]
        while bounds.count < Self.most, let begin = bounds.last, end > begin, end &- begin > Self.longest {
            let latest = begin &+ Self.longest
            let sync = video.samples.sync(before: MovieHeader.ticks(latest, of: scale))
            let keyframe = sync.flatMap { video.samples.times[at: $0] }.map(time) ?? 0
            bounds.append(keyframe > begin &+ Self.longest / 2 ? min(keyframe, latest) : latest)
        }
        if isComplete, bounds.count < Self.most { bounds.append(end) }
        self.bounds = bounds
        let totals = index.tracks.map { ($0, $0.samples.totals) }
        sizes = zip(bounds, bounds.dropFirst()).map { begin, end in
            totals.reduce(0) { $0 &+ $1.0.size(in: Range(from: begin, to: end), $1.1) }
        }
    }

    package var count: Int { max(0, bounds.count &- 1) }

    /// When a segment begins and ends, in µs of the movie's time; `nil` if there is no such segment.
    ///
    /// - Parameter number: From 0.
    package func range(of number: Int) -> Range<UInt64>? {
        guard number >= 0, let begin = bounds[at: number], let end = bounds[at: number &+ 1], begin < end else {
            return nil
        }
        return Range(from: begin, to: end)
    }
}

extension MovieIndex.Track {
    /// Returns the bytes of the samples that a segment needs.
    ///
    /// - Parameters:
    ///   - range: The segment's time, in µs.
    ///   - totals: ``SampleTable/totals``.
    fileprivate func size(in range: Range<UInt64>, _ totals: [UInt64]) -> UInt64 {
        let begin = MovieHeader.ticks(range.lowerBound, of: description.timescale)
        let end = MovieHeader.ticks(range.upperBound, of: description.timescale)
        let first = totals[at: samples.sync(before: begin) ?? 0] ?? 0
        let last = totals[at: samples.first(after: max(end, 1) &- 1)] ?? 0
        return last &- min(first, last)
    }
}

extension SampleTable {
    /// The bytes of all samples before each one, and of all.
    fileprivate var totals: [UInt64] {
        var (totals, sum) = ([UInt64(0)], UInt64(0))
        for size in sizes {
            sum = sum &+ UInt64(clamping: size)
            totals.append(sum)
        }
        return totals
    }
}
