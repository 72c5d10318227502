/// Speech on its way to the programs that record it, between a link that delivers unevenly and a graph that takes
/// evenly.
///
/// It begins once a reserve is there. A hole makes the reserve larger, and time without holes makes it smaller. If more
/// waits than the reserve explains, some is left out. A pure value; samples are of one channel at 48 kHz.
package struct SpeechBuffer: Sendable {
    /// The reserve, in samples: 40 ms at first, 20 ms more after each hole, 120 ms at most, 1 ms less after a window.
    private static let (firstReserve, mostReserve): (Int, Int) = (1920, 5760)
    private static let (moreAfterHole, lessAfterWindow): (Int, Int) = (960, 48)
    /// The most that waits, in samples: 0.5 s. The oldest is left out.
    private static let most = 24_000
    /// The time in which the least that waits is looked for, in samples: 2 s.
    private static let window = 96_000
    /// What is left beyond need, in samples, and how much more must wait before some is left out: 10 and 20 ms.
    private static let (margin, excess): (Int, Int) = (480, 960)
    /// The length of fades, in samples: 5 ms.
    private static let fade = 240

    private var samples: [Float] = []
    private var reserve = firstReserve
    private var isPlaying = false
    /// Whether the speaker has ended, so that what waits is all.
    private var isEnding = false
    /// The last sample that was played, and how much of its fade is left.
    private var (last, fading): (Float, Int) = (0, 0)
    /// The least that waited in the present window, and how much of the window is over.
    private var (least, elapsed) = (Int.max, 0)
    /// How often speech came too late.
    package private(set) var holes = 0

    package init() {}

    /// How many samples wait.
    package var count: Int { samples.count }

    /// Takes samples that the speaker sent.
    package mutating func take(_ new: [Float]) {
        isEnding = false
        samples += new
        if samples.count > Self.most { samples.removeFirst(samples.count - Self.most) }
    }

    /// Records that the speaker has ended. What waits is still played, and the next one begins anew.
    package mutating func end() { (isEnding, reserve) = (true, Self.firstReserve) }

    /// Forgets what waits, because no program records.
    package mutating func clear() {
        samples = []
        (isPlaying, fading) = (false, 0)
    }

    /// Returns the next samples to play, with silence if there are too few.
    package mutating func read(_ count: Int) -> [Float] {
        let begins = !isPlaying
        if begins {
            guard !samples.isEmpty, samples.count >= reserve || isEnding else { return silence(count) }
            isPlaying = true
            (least, elapsed) = (.max, 0)
        }
        var played = Array(samples.prefix(count))
        samples.removeFirst(played.count)
        if begins { Self.fadeIn(&played) }
        if let value = played.last { (last, fading) = (value, Self.fade) }
        if played.count < count {
            played += silence(count - played.count)
            isPlaying = false
            if !isEnding {
                holes += 1
                reserve = min(reserve + Self.moreAfterHole, Self.mostReserve)
            }
        } else {
            shorten(after: count)
        }
        return played
    }

    /// Returns silence, after the rest of the last sample's fade.
    private mutating func silence(_ count: Int) -> [Float] {
        let faded = (0..<min(count, fading)).map { last * Float(fading - 1 - $0) / Float(Self.fade) }
        fading -= faded.count
        return faded + Array(repeating: 0, count: count - faded.count)
    }

    /// Leaves out what waits beyond need, at the end of each window.
    private mutating func shorten(after count: Int) {
        least = min(least, samples.count)
        elapsed += count
        guard elapsed >= Self.window else { return }
        let surplus = least - Self.margin - (reserve - Self.firstReserve)
        (least, elapsed) = (.max, 0)
        reserve = max(reserve - Self.lessAfterWindow, Self.firstReserve)
        guard surplus > Self.excess, samples.count >= surplus + Self.fade else { return }
        // The two ends overlap, one fading out and the other in.
        for index in 0..<Self.fade {
            let gain = Float(index) / Float(Self.fade)
            samples[surplus + index] = samples[index] * (1 - gain) + samples[surplus + index] * gain
        }
        samples.removeFirst(surplus)
    }

    private static func fadeIn(_ samples: inout [Float]) {
        for index in 0..<min(fade, samples.count) { samples[index] *= Float(index) / Float(fade) }
    }
}
