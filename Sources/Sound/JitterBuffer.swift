/// Sound between a network that delivers unevenly and a clock that takes evenly: speech on its way to the programs that
/// record it, and a device's sound on its way to a loudspeaker.
///
/// It begins once a reserve is there. A hole makes the reserve larger, and time without holes makes it smaller. If more
/// waits than the reserve explains, some is left out. A pure value, of 48,000 samples a second and channel. Numbers of
/// samples are those of one channel.
package struct JitterBuffer: Sendable {
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

    private let channels: Int
    /// What waits, the channels in turn.
    private var values: [Float] = []
    private var reserve = firstReserve
    private var isPlaying = false
    /// Whether the sound has ended for now, so that what waits is all.
    private var isEnding = false
    /// The last values that were played, one of each channel, and how many samples of their fade are left.
    private var (last, fading): ([Float], Int)
    /// The least that waited in the present window, and how much of the window is over.
    private var (least, elapsed) = (Int.max, 0)
    /// How often sound came too late.
    package private(set) var holes = 0

    /// - Parameter channels: At least 1.
    package init(channels: Int) {
        self.channels = channels
        (last, fading) = (Array(repeating: 0, count: channels), 0)
    }

    /// How many samples wait.
    package var count: Int { values.count / channels }

    /// Takes sound, the channels in turn.
    package mutating func take(_ new: [Float]) {
        isEnding = false
        values += new
        if count > Self.most { removeFirst(count - Self.most) }
    }

    /// Records that the sound has ended for now. What waits is still played, and what comes next begins anew.
    package mutating func end() { (isEnding, reserve) = (true, Self.firstReserve) }

    /// Forgets what waits, because nothing takes it.
    package mutating func clear() {
        values = []
        (isPlaying, fading) = (false, 0)
    }

    /// Forgets what waits, and fades out what is heard. What comes next begins anew.
    package mutating func cut() {
        values = []
        (isPlaying, isEnding, reserve) = (false, true, Self.firstReserve)
    }

    /// Returns the next samples to play, the channels in turn, with silence if there are too few.
    package mutating func read(_ count: Int) -> [Float] {
        let begins = !isPlaying
        if begins {
            guard !values.isEmpty, self.count >= reserve || isEnding else { return silence(count) }
            isPlaying = true
            (least, elapsed) = (.max, 0)
        }
        var played = Array(values.prefix(count * channels))
        values.removeFirst(played.count)
        if begins { fadeIn(&played) }
        if !played.isEmpty { (last, fading) = (Array(played.suffix(channels)), Self.fade) }
        let missing = count - played.count / channels
        if missing > 0 {
            played += silence(missing)
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
        let fadingCount = min(count, fading)
        let faded = (0..<fadingCount).flatMap { index in
            last.map { $0 * Float(fading - 1 - index) / Float(Self.fade) }
        }
        fading -= fadingCount
        return faded + Array(repeating: 0, count: count * channels - faded.count)
    }

    /// Leaves out what waits beyond need, at the end of each window.
    private mutating func shorten(after count: Int) {
        least = min(least, self.count)
        elapsed += count
        guard elapsed >= Self.window else { return }
        let surplus = least - Self.margin - (reserve - Self.firstReserve)
        (least, elapsed) = (.max, 0)
        reserve = max(reserve - Self.lessAfterWindow, Self.firstReserve)
        guard surplus > Self.excess, self.count >= surplus + Self.fade else { return }
        // The two ends overlap, one fading out and the other in.
        for index in 0..<(Self.fade * channels) {
            let gain = Float(index / channels) / Float(Self.fade)
            let place = surplus * channels + index
            values[place] = values[index] * (1 - gain) + values[place] * gain
        }
        removeFirst(surplus)
    }

    private mutating func removeFirst(_ count: Int) { values.removeFirst(count * channels) }

    private func fadeIn(_ values: inout [Float]) {
        for index in 0..<min(Self.fade * channels, values.count) {
            values[index] *= Float(index / channels) / Float(Self.fade)
        }
    }
}
