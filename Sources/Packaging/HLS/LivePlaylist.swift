import Media

/// The playlist of low-latency HLS (RFC 8216, second edition: draft-pantos-hls-rfc8216bis).
///
/// A pure value: parts are added as they end. The last minute is in memory. What is recorded stays in the playlist for
/// ``longest``, without its parts.
package struct LivePlaylist: Sendable, Equatable {
    /// A part of a segment: some whole pictures.
    package struct Part: Sendable, Equatable {
        /// In µs.
        package let duration: Int64
        /// Whether it begins with a keyframe.
        package let isIndependent: Bool

        package init(duration: Int64, isIndependent: Bool) {
            (self.duration, self.isIndependent) = (duration, isIndependent)
        }
    }

    package struct Segment: Sendable, Equatable {
        /// Counts from 0.
        package let number: UInt64
        /// The number of its initialization segment.
        package let map: Int
        /// When its first picture was captured, as RFC 3339 has it, and its PTS in µs.
        package let (date, start): (String, Int64)
        package fileprivate(set) var parts: [Part] = []
        /// In µs; `nil` while it goes on.
        package fileprivate(set) var duration: Int64?
    }

    /// A place in the stream: a part, or the end of a segment.
    package struct Place: Sendable, Equatable {
        package let segment: UInt64
        /// `nil` for the whole segment.
        package let part: Int?

        package init(segment: UInt64, part: Int?) { (self.segment, self.part) = (segment, part) }
    }

    /// `EXT-X-TARGETDURATION`, in s: segments end with the next keyframe, which comes earlier.
    package static let target = 6
    /// How long segments stay in memory, and how long recorded ones stay in the playlist, in µs.
    package static let (window, longest): (Int64, Int64) = (60_000_000, 1_800_000_000)
    /// The number of the last segments whose parts are listed: at least three times the target duration.
    private static let segmentsWithParts = 12

    /// The most that a part lasts, in µs.
    package let partTarget: Int64
    /// The segments, the oldest first; the last one may go on.
    package private(set) var segments: [Segment] = []
    /// How many of the first segments are not in memory.
    package private(set) var released = 0
    /// How many changes of the initialization segment are before the first one.
    private var discontinuities: UInt64 = 0
    private var next: UInt64 = 0
    /// Whether nothing follows.
    package private(set) var isEnded = false

    package init(partTarget: Int64) { self.partTarget = partTarget }

    /// Begins a segment.
    ///
    /// - Parameter start: Its PTS, in µs.
    package mutating func beginSegment(map: Int, date: String, at start: Int64) {
        segments.append(Segment(number: next, map: map, date: date, start: start))
        next &+= 1
    }

    /// Adds a segment that is recorded, and not in memory. It comes before all that are.
    package mutating func addRecorded(map: Int, date: String, at start: Int64, lasting duration: Int64) {
        beginSegment(map: map, date: date, at: start)
        segments.update(at: segments.count &- 1) { $0.duration = duration }
        released = segments.count
    }

    package mutating func add(_ part: Part) { segments.update(at: segments.count &- 1) { $0.parts.append(part) } }

    /// Ends the last segment, and releases those that are too old for memory.
    ///
    /// - Parameters:
    ///   - duration: In µs.
    ///   - recorded: Since which PTS all is recorded, in µs; `nil` if nothing is.
    /// - Returns: How many were released.
    package mutating func endSegment(lasting duration: Int64, recordedSince recorded: Int64?) -> Int {
        segments.update(at: segments.count &- 1) { $0.duration = duration }
        return release(firstPlace(within: Self.window) &- released, recordedSince: recorded)
    }

    /// Releases the oldest segments that are in memory, but not the last three, and forgets the released ones that are
    /// not recorded or too old.
    ///
    /// - Returns: How many were released.
    package mutating func release(_ most: Int, recordedSince recorded: Int64?) -> Int {
        let count = max(0, min(most, segments.count &- released &- 3))
        for place in Range(from: released, to: released &+ count) { segments.update(at: place) { $0.parts = [] } }
        released = released &+ count
        let (since, oldest) = (recorded ?? .max, firstPlace(within: Self.longest))
        var first = 0
        while first < released, let segment = segments[at: first], segment.start < since || first < oldest {
            first = first &+ 1
        }
        forget(first)
        return count
    }

    /// Returns the place of the first of the segments that together last at least a time, in µs.
    private func firstPlace(within time: Int64) -> Int {
        var (kept, first) = (Int64(0), segments.count)
        while kept < time, let segment = segments[at: first &- 1] {
            kept = kept &+ (segment.duration ?? 0)
            first = first &- 1
        }
        return first
    }

    private mutating func forget(_ count: Int) {
        discontinuities &+= discontinuities(before: count)
        segments.removeLeading(count)
        released = released &- count
    }

    /// Returns the number of changes of the initialization segment before the segment at a place.
    private func discontinuities(before place: Int) -> UInt64 {
        Range(from: 0, to: place).reduce(0) { count, place in
            segments[at: place]?.map == segments[at: place &+ 1]?.map ? count : count &+ 1
        }
    }

    package mutating func end() { isEnded = true }

    /// Whether a place is in the playlist. A place of the past is.
    package func has(_ place: Place) -> Bool {
        guard let last = segments.last else { return false }
        if isEnded || place.segment < last.number { return true }
        guard place.segment == last.number else { return false }
        guard let part = place.part else { return last.duration != nil }
        return part < last.parts.count || last.duration != nil
    }

    /// Whether it has a whole segment, without which many players give up.
    package func isPlayable(hasPast: Bool) -> Bool { segments[at: hasPast ? 0 : released]?.duration != nil }

    /// Whether a place is so far in the future that nobody should wait for it (6.2.5.2).
    package func isFar(_ place: Place) -> Bool { place.segment > next &+ 2 }

    // MARK: Text

    /// Returns the playlist.
    ///
    /// - Parameters:
    ///   - run: The name of this run of the stream, for addresses.
    ///   - skips: Whether older segments may be left out, which the client knows (6.2.5.1).
    ///   - hasPast: Whether it has the segments that are only in the recording.
    package func text(run: String, skips: Bool = false, hasPast: Bool = true) -> String {
        let first = hasPast ? 0 : released
        let discontinuities = discontinuities &+ discontinuities(before: first)
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-INDEPENDENT-SEGMENTS", "#EXT-X-TARGETDURATION:\(Self.target)",
            "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=\(Self.target * 6)"
                + ",PART-HOLD-BACK=\(Self.seconds(partTarget &* 3))",
            "#EXT-X-PART-INF:PART-TARGET=\(Self.seconds(partTarget))",
            "#EXT-X-MEDIA-SEQUENCE:\(segments[at: first]?.number ?? next)",
        ]
        if discontinuities > 0 { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(discontinuities)") }
        let begin = skips ? max(first, skippable) : first
        if begin > first { lines.append("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(begin &- first)") }
        for place in Range(from: begin, to: segments.count) {
            guard let segment = segments[at: place] else { continue }
            let former = place > first ? segments[at: place &- 1] : nil
            if former?.map != segment.map {
                if former != nil { lines.append("#EXT-X-DISCONTINUITY") }
                lines.append("#EXT-X-MAP:URI=\"live/\(run)/init\(segment.map).mp4\"")
            }
            lines.append("#EXT-X-PROGRAM-DATE-TIME:\(segment.date)")
            if place &+ Self.segmentsWithParts >= segments.count { lines += parts(of: segment, run: run) }
            guard let duration = segment.duration else { continue }
            lines.append("#EXTINF:\(Self.seconds(duration)),")
            lines.append("live/\(run)/\(segment.number).m4s")
        }
        if isEnded {
            lines.append("#EXT-X-ENDLIST")
        } else {
            let current = segments.last.flatMap { $0.duration == nil ? ($0.number, $0.parts.count) : nil } ?? (next, 0)
            lines.append("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"live/\(run)/\(current.0).\(current.1).m4s\"")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The number of the first segments that are older than `CAN-SKIP-UNTIL`.
    private var skippable: Int {
        var (age, place) = (Int64(0), segments.count)
        while let segment = segments[at: place &- 1], age < Int64(clamping: Self.target &* 6_000_000) {
            age = age &+ (segment.duration ?? segment.parts.reduce(0) { $0 &+ $1.duration })
            place = place &- 1
        }
        return max(0, place)
    }

    private func parts(of segment: Segment, run: String) -> [String] {
        segment.parts.enumerated().map { number, part in
            "#EXT-X-PART:DURATION=\(Self.seconds(min(part.duration, partTarget)))"
                + ",URI=\"live/\(run)/\(segment.number).\(number).m4s\""
                + (part.isIndependent ? ",INDEPENDENT=YES" : "")
        }
    }

    private static func seconds(_ duration: Int64) -> String {
        MediaPlaylist.seconds(UInt64(clamping: duration))
    }
}
