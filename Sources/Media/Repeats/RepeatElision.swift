/// Leaves out of a recording what a static screen's stream repeats: skip pictures and copies of its keyframe.
///
/// Skip pictures take numbers in the stream (``RepeatableStream``), so none may be missing before the next picture of
/// the encoder. But a keyframe restarts the numbers, and so the j-th skip picture after a copy of it is the same as the
/// j-th after itself. What is left out therefore never needs to be written, unless the screen changes: then the file
/// gets as many skip pictures as the stream has had since the last copy. This is exact for H.264 and H.265.
///
///     var elision = RepeatElision<[UInt8]>()
///     for unit in stream { file += elision.take(unit) }
///
/// A pure value; PTS stay as they are.
package struct RepeatElision<Bytes: MediaBytes>: Sendable {
    /// The most skip pictures that are held: it bounds what waits in memory.
    private static var most: Int { 512 }
    /// The longest time without a written picture, in µs: durations in containers have 32 bits.
    private static var longest: Int64 { 600_000_000 }

    /// The static screen's keyframe, if only its repeats have followed it in the stream.
    private var keyframe: Bytes?
    /// The last copy of it, unless it is written.
    private var copy: EncodedUnit<Bytes>?
    /// The number of skip pictures in the file since the keyframe or the last other picture.
    private var written = 0
    /// The number of skip pictures in the stream since the keyframe, its last copy, or the last other picture, before
    /// those that are held.
    private var passed = 0
    private var held: [EncodedUnit<Bytes>] = []
    /// The PTS of the last picture that was written.
    private var lastWritten: Int64 = 0

    package init() {}

    /// Takes the stream's next picture, and returns the pictures to write now.
    package mutating func take(_ unit: EncodedUnit<Bytes>) -> [EncodedUnit<Bytes>] {
        let pictures = pictures(after: unit)
        if let last = pictures.last { lastWritten = last.pts }
        return pictures
    }

    /// Begins again with the next keyframe, because pictures of the stream are missing.
    package mutating func restart() { self = RepeatElision() }

    private mutating func pictures(after unit: EncodedUnit<Bytes>) -> [EncodedUnit<Bytes>] {
        let isRepeat = unit.header.flags.contains(.skip)
        if unit.isKey { return isRepeat && unit.bytes == keyframe ? repeated(unit) : begun(unit) }
        guard isRepeat else {
            let pictures = caughtUp() + [unit]
            (keyframe, copy, written, passed) = (nil, nil, 0, 0)
            return pictures
        }
        held.append(unit)
        return held.count < Self.most ? [] : caughtUp()
    }

    /// Takes another keyframe than the last one.
    private mutating func begun(_ unit: EncodedUnit<Bytes>) -> [EncodedUnit<Bytes>] {
        let separator = separator
        (keyframe, copy, written, passed, held) = (unit.bytes, nil, 0, 0, [])
        return separator + [unit]
    }

    /// Takes a copy of the keyframe.
    private mutating func repeated(_ unit: EncodedUnit<Bytes>) -> [EncodedUnit<Bytes>] {
        guard unit.pts &- lastWritten < Self.longest else { return begun(unit) }
        (copy, passed, held) = (unit, 0, [])
        return []
    }

    /// The picture to write between two keyframes that would otherwise be adjacent: they may have the same
    /// `idr_pic_id`, which H.264 (7.4.3) forbids.
    private var separator: [EncodedUnit<Bytes>] {
        keyframe != nil && written == 0 ? Array(held.prefix(1)) : []
    }

    /// Returns what the file lacks to continue like the stream.
    private mutating func caughtUp() -> [EncodedUnit<Bytes>] {
        let total = passed &+ held.count
        var pictures = held
        if passed < written {
            // The file is ahead of the stream's numbers, or has the first of the held pictures.
            pictures = total < written ? [copy].compactMap { $0 } + held : Array(held[from: written &- passed])
        }
        (written, passed, held, copy) = (total, total, [], nil)
        return pictures
    }
}
