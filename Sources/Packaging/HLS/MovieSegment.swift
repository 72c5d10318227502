package import Media

/// A segment of HLS, made of one track of a recording without another encoding: a fragment whose samples are pieces of
/// the file.
///
/// A segment of pictures begins with a keyframe. If its first picture is not one, the pictures since the keyframe are
/// repeated in front of it, each for one unit of time. The parameter sets are in the keyframe, too: some players read
/// only the first initialization segment of a presentation.
///
/// In a segment of sound, silence fills what the recording lacks.
package struct MovieSegment: Sendable, Equatable {
    package enum Piece: Sendable, Equatable {
        case bytes([UInt8])
        case file(FilePiece)
    }

    /// The `track_ID` in segments and initialization segments of one track.
    package static let loneTrack: UInt32 = 1
    /// The most samples of a segment, with its repeats: no session has so many.
    private static let mostSamples = 100_000

    /// What the segment consists of, in order.
    package let pieces: [Piece]

    /// Returns the initialization segment of a track's segments.
    package static func initialization(of track: TrackDescription) -> [UInt8] {
        let alone = TrackDescription(
            id: loneTrack,
            kind: track.kind,
            timescale: track.timescale,
            width: track.width,
            height: track.height,
            sampleEntry: track.sampleEntry
        )
        return InitializationSegment.bytes(of: [alone], note: nil)
    }

    /// Makes a segment of a movie's pictures, or of its sound in a codec.
    ///
    /// - Parameters:
    ///   - codec: `nil` for pictures.
    ///   - range: As for pictures.
    package init?(
        of movie: MovieIndex,
        sound codec: SoundCodec?,
        _ range: Range<UInt64>,
        number: UInt32,
        offset: UInt64,
        as track: UInt32 = loneTrack
    ) {
        if let codec {
            let sound = movie.sound(in: codec)
            self.init(sound: sound, in: codec, range, number: number, offset: offset, as: track)
        } else if let video = movie.video {
            self.init(video: video, range, number: number, offset: offset, as: track)
        } else {
            return nil
        }
    }

    /// Makes a segment of pictures.
    ///
    /// - Parameters:
    ///   - video: The pictures.
    ///   - range: The segment's time in the movie, in µs.
    ///   - number: The segment's number, from 0.
    ///   - offset: When the movie begins in the presentation, in µs.
    ///   - track: The `track_ID`.
    /// - Returns: `nil` without pictures.
    package init?(
        video: MovieIndex.Track,
        _ range: Range<UInt64>,
        number: UInt32,
        offset: UInt64,
        as track: UInt32 = loneTrack
    ) {
        let clock = Clock(range, offset: offset, scale: video.description.timescale)
        let samples = video.samples
        guard let key = samples.sync(before: clock.begin) else { return nil }
        let shown = max(key, samples.first(after: clock.begin) &- 1)
        let numbers = Range(from: key, to: max(samples.first(after: max(clock.end, 1) &- 1), shown &+ 1))
        guard numbers.count <= Self.mostSamples else { return nil }
        var (times, next) = ([UInt64](), clock.begin)
        for number in numbers {
            let time = number > shown ? max(samples.times[at: number] ?? next, next) : next
            times.append(time)
            next = time &+ 1
        }
        var sets: [UInt8] = []
        for set in video.description.parameterSets {
            sets.append(bigEndian: UInt32(clamping: set.count))
            sets += set
        }
        let entries = numbers.enumerated().map { place, number in
            let time = times[at: place] ?? 0
            return Sample(
                time: time &+ clock.offset,
                duration: UInt32(clamping: max(times[at: place &+ 1] ?? clock.end, time &+ 1) &- time),
                size: (samples.sizes[at: number] ?? 0) &+ (place == 0 ? UInt32(clamping: sets.count) : 0),
                isSync: samples.isSync(number),
                trackID: track
            )
        }
        let pieces = [.bytes(sets)] + samples.places(of: numbers).map { Piece.file($0) }
        self.init(entries, pieces, number: number)
    }

    /// Makes a segment of sound.
    ///
    /// - Parameters:
    ///   - sound: The packets; `nil` if the movie has none in the codec, for silence.
    ///   - range: As for pictures.
    package init?(
        sound: MovieIndex.Track?,
        in codec: SoundCodec,
        _ range: Range<UInt64>,
        number: UInt32,
        offset: UInt64,
        as track: UInt32 = loneTrack
    ) {
        let clock = Clock(range, offset: offset, scale: SoundCodec.sampleRate)
        let samples = sound?.samples ?? SampleTable()
        let first = clock.begin == 0 ? 0 : samples.first(after: clock.begin &- 1)
        var filled = FilledSound(codec, clock, track)
        if first > 0 { filled.end = max(clock.begin, samples.packetEnd(first &- 1, in: codec)) }
        var place = first
        while let time = samples.times[at: place], time < clock.end {
            guard filled.entries.count < Self.mostSamples else { return nil }
            filled.fill(to: time)
            filled.append(samples, place)
            place = place &+ 1
        }
        filled.fill(to: clock.end)
        if filled.entries.isEmpty { filled.close(at: clock.end) }
        self.init(filled.entries, filled.pieces, number: number)
    }

    private init?(_ samples: [Sample], _ pieces: [Piece], number: UInt32) {
        let size = samples.reduce(0) { $0 &+ Int(clamping: $1.size) }
        guard !samples.isEmpty, size <= FragmentHead.mostBytes else { return nil }
        self.pieces = [.bytes(FragmentHead.bytes(sequence: number &+ 1, runs: [samples]))] + pieces
    }

    /// A sample with its time in the presentation.
    fileprivate struct Sample: FragmentSample {
        let time: UInt64
        let duration: UInt32
        let size: UInt32
        let isSync: Bool
        let trackID: UInt32
    }
}

/// A segment's times in a track's time scale.
private struct Clock {
    /// In the movie.
    let (begin, end): (UInt64, UInt64)
    /// When the movie begins in the presentation.
    let offset: UInt64

    init(_ range: Range<UInt64>, offset: UInt64, scale: UInt32) {
        begin = MovieHeader.ticks(range.lowerBound, of: scale)
        end = MovieHeader.ticks(range.upperBound, of: scale)
        self.offset = MovieHeader.ticks(offset, of: scale)
    }
}

/// Packets of sound, with silence between them.
private struct FilledSound {
    let codec: SoundCodec
    let clock: Clock
    let track: UInt32
    /// When the sound so far ends in the movie, in samples at 48 kHz.
    var end: UInt64
    private(set) var entries: [MovieSegment.Sample] = []
    private(set) var pieces: [MovieSegment.Piece] = []

    init(_ codec: SoundCodec, _ clock: Clock, _ track: UInt32) {
        (self.codec, self.clock, self.track, end) = (codec, clock, track, clock.begin)
    }

    /// Adds silence up to a time; the last packet of it lasts until then.
    mutating func fill(to time: UInt64) {
        let (packet, length) = (codec.silence, UInt64(clamping: codec.silenceDuration))
        var (silence, left) = ([UInt8](), time &- min(end, time))
        while left >= length {
            let duration = left < 2 &* length ? left : length
            append(at: end, duration: duration, size: UInt32(clamping: packet.count))
            silence += packet
            (end, left) = (end &+ duration, left &- duration)
        }
        if !silence.isEmpty { pieces.append(.bytes(silence)) }
    }

    /// Adds a packet of silence that is shorter than others.
    mutating func close(at time: UInt64) {
        append(at: end, duration: max(time, end &+ 1) &- end, size: UInt32(clamping: codec.silence.count))
        pieces.append(.bytes(codec.silence))
    }

    mutating func append(_ samples: SampleTable, _ number: Int) {
        let time = samples.times[at: number] ?? end
        let next = samples.packetEnd(number, in: codec)
        append(at: time, duration: max(next, time) &- time, size: samples.sizes[at: number] ?? 0)
        end = next
        for piece in samples.places(of: Range(from: number, to: number &+ 1)) {
            if case .file(let last)? = pieces.last, last.offset &+ last.length == piece.offset {
                let joined = FilePiece(offset: last.offset, length: last.length &+ piece.length)
                pieces[at: pieces.count &- 1] = .file(joined)
            } else {
                pieces.append(.file(piece))
            }
        }
    }

    private mutating func append(at time: UInt64, duration: UInt64, size: UInt32) {
        let length = UInt32(clamping: duration)
        entries.append(.init(time: time &+ clock.offset, duration: length, size: size, isSync: true, trackID: track))
    }
}

extension SampleTable {
    /// Returns when a packet ends: when the next one begins, if that follows at once.
    fileprivate func packetEnd(_ number: Int, in codec: SoundCodec) -> UInt64 {
        guard let time = times[at: number] else { return 0 }
        for (one, other) in [(number, number &+ 1), (number &- 1, number)] {
            guard let begin = times[at: one], let end = times[at: other] else { continue }
            let distance = end &- min(begin, end)
            // Less than a packet of silence more would not be filled.
            if distance <= UInt64(clamping: max(codec.longestPacket, 2 &* codec.silenceDuration &- 1)) {
                return time &+ distance
            }
        }
        return time &+ UInt64(clamping: codec.silenceDuration)
    }
}
