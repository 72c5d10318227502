import Media
import TestSupport

/// A source stream with repeats and keyframes sent again at random places, cut and joined at keyframes.
struct RandomMix {
    /// What a viewer gets, access unit by access unit.
    private(set) var sent: [[UInt8]] = []
    /// The source's access unit that each one shows.
    private(set) var shown: [Int] = []
    /// Indices in `sent` of the keyframes, live ones and those sent again.
    private(set) var keyframes: [Int] = []
    /// Indices in `sent` of the repeats that no encoder made: skip pictures, and keyframes sent again.
    private(set) var repeats: Set<Int> = []
    private(set) var skips = 0
    private(set) var resent = 0
    /// How often another `RepeatableStream` has continued from a keyframe.
    private(set) var rests = 0
    private(set) var stream: RepeatableStream
    private let codec: Codec

    /// - Parameter runs: How often it starts again at one of the source's keyframes.
    init(of source: SourceStream, runs: Int, seed: UInt64) throws {
        codec = source.codec
        stream = RepeatableStream(codec: codec)
        var generator = SeededGenerator(seed: seed)
        // Once through a keyframe and a P picture, so that the stream is admitted.
        let first = source.keyframes.first { !source.keyframes.contains($0 + 1) } ?? 0
        for picture in [first, first + 1] { try sendLive(picture, of: source) }
        for _ in 0..<runs {
            var picture = source.keyframes.randomElement(using: &generator) ?? 0
            for _ in 0..<Int.random(in: 1...12, using: &generator) where picture < source.accessUnits.count {
                try sendLive(picture, of: source)
                try sendRepeats(of: picture, &generator)
                picture += 1
            }
            // Runs may meet at two keyframes that are the same in the source: a skip picture between them keeps
            // idr_pic_id legal.
            sendSkip(of: picture - 1)
        }
    }

    private mutating func sendLive(_ picture: Int, of source: SourceStream) throws {
        if source.keyframes.contains(picture) { keyframes.append(sent.count) }
        sent.append(try stream.live(source.accessUnits[picture]))
        shown.append(picture)
    }

    private mutating func sendSkip(of picture: Int) {
        _ = send(stream.skip(), of: picture)
    }

    /// Sends a skip picture, if it is one. Returns whether it is.
    private mutating func send(_ skip: [UInt8]?, of picture: Int) -> Bool {
        guard let skip else { return false }
        skips += 1
        repeats.insert(sent.count)
        sent.append(skip)
        shown.append(picture)
        return true
    }

    private mutating func sendAgain(_ keyframe: [UInt8], of picture: Int) {
        resent += 1
        repeats.insert(sent.count)
        keyframes.append(sent.count)
        sent.append(keyframe)
        shown.append(picture)
    }

    private mutating func sendRepeats(of picture: Int, _ generator: inout SeededGenerator) throws {
        // Most pictures are followed by few or no repeats; some by more than a frame number or picture order count can
        // hold.
        let most = [0, 0, 0, 1, 1, 2, 3, 3, 20].randomElement(using: &generator) ?? 0
        let count = Int.random(in: 0..<400, using: &generator) == 0 ? 300 : Int.random(in: 0...most, using: &generator)
        if stream.isResumable, Bool.random(using: &generator), let keyframe = sent.last {
            return try rest(on: keyframe, of: picture, count: count, &generator)
        }
        for _ in 0..<count {
            sendSkip(of: picture)
            if Bool.random(using: &generator), let bytes = stream.resendKeyframe() { sendAgain(bytes, of: picture) }
        }
    }

    /// Repeats by a value that knows only the keyframe, as the relay does.
    private mutating func rest(
        on keyframe: [UInt8],
        of picture: Int,
        count: Int,
        _ generator: inout SeededGenerator
    ) throws {
        var other = try RepeatableStream(codec: codec, resumingAt: keyframe)
        var (inserted, keyframeWasResent) = (0, false)
        rests += 1
        for _ in 0..<count {
            if send(other.skip(), of: picture) { inserted += 1 }
            if Bool.random(using: &generator), let bytes = other.resendKeyframe() {
                sendAgain(bytes, of: picture)
                (inserted, keyframeWasResent) = (0, true)
            }
        }
        stream.follow(inserted: inserted, keyframeWasResent: keyframeWasResent)
    }

    /// Returns what a recording keeps of it, as indices in `sent`.
    ///
    /// - Parameter interval: The time between pictures, in µs.
    func elided(interval: Int64) -> [Int] {
        var elision = RepeatElision<[UInt8]>()
        let keyframes = Set(keyframes)
        return sent.enumerated().flatMap { index, bytes in
            var flags: UnitFlags = keyframes.contains(index) ? .key : []
            if repeats.contains(index) { flags.formUnion([.repeat, .skip]) }
            let unit = AccessUnit(
                pts: Int64(index) * interval,
                captured: 0,
                encodeStart: 0,
                encodeEnd: 0,
                flags: flags,
                size: PictureSize(width: 2, height: 2),
                bytes: bytes
            )
            return elision.take(unit).map { Int($0.pts / interval) }
        }
    }
}
