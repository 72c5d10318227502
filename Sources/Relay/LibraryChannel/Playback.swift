import Media

/// What one client plays: a queue of items, where it is in it, and how it plays.
///
/// Positions and lengths are in µs. Instants are in monotonic ns, passed by the caller.
package struct Playback: Sendable, Equatable {
    /// An item of the queue.
    package struct Entry: Sendable, Equatable {
        package var item: Int64
        package var device: String
        /// The item's length.
        package var length: Int64

        package init(item: Int64, device: String, length: Int64) {
            self.item = item
            self.device = device
            self.length = length
        }
    }

    package enum State: String, Sendable, CaseIterable {
        case stopped, playing, paused
    }

    package private(set) var state = State.stopped
    /// From 0 to 1.
    package private(set) var volume = 1.0
    package private(set) var isShuffled = false
    /// The queue in the order in which it was given.
    private var entries: [Entry] = []
    /// The indices of `entries` in the order of playing.
    private var order: [Int] = []
    /// The place of the current item in `order`.
    package private(set) var place = 0
    /// The position at `since`.
    private var base: Int64 = 0
    private var since: UInt64 = 0

    package init() {}

    package var length: Int { entries.count }

    /// The current item; `nil` if the queue is empty.
    package var current: Entry? { entry(at: place) }

    /// The item after the current one; `nil` at the queue's end.
    package var next: Entry? { entry(at: place &+ 1) }

    private func entry(at place: Int) -> Entry? { order[at: place].flatMap { entries[at: $0] } }

    /// Returns the position in the current item.
    package func position(at now: UInt64) -> Int64 {
        guard let current else { return 0 }
        let passed = state == .playing && now > since ? Int64(clamping: (now - since) / 1000) : 0
        return min(base + passed, max(current.length, base))
    }

    /// Replaces the queue, and plays it.
    ///
    /// - Parameter place: The place of the first item to play; the last one's if there are fewer.
    package mutating func play(
        _ entries: [Entry],
        from place: Int,
        at position: Int64,
        now: UInt64,
        using random: inout some RandomNumberGenerator
    ) {
        self.entries = entries
        order = Array(entries.indices)
        self.place = min(max(place, 0), max(entries.count - 1, 0))
        if isShuffled { shuffle(using: &random) }
        resume(at: position, now: now)
    }

    /// Carries out a command about the queue or how it is played.
    ///
    /// - Returns: `false` if the queue is empty and the command needs an item, or the command is about something else.
    package mutating func carryOut(
        _ command: LibraryMessage.Command,
        now: UInt64,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        switch command {
        case .setVolume(let volume): setVolume(volume)
        case .toggleShuffle: toggleShuffle(using: &random)
        case _ where current == nil: return false
        case .resume: resume(now: now)
        case .pause: pause(now: now)
        case .next: goToNext(now: now)
        case .previous: goToPrevious(now: now)
        case .seek(let position): seek(to: position, now: now)
        case .play, .refreshDB: return false
        }
        return true
    }

    /// Plays on. Has no effect on an empty queue.
    package mutating func resume(now: UInt64) {
        if state != .playing { resume(at: position(at: now), now: now) }
    }

    package mutating func pause(now: UInt64) {
        guard state == .playing else { return }
        (base, since) = (position(at: now), now)
        state = .paused
    }

    /// Goes on to the next item, and stops after the last one, whose beginning is then the position.
    package mutating func goToNext(now: UInt64) {
        guard next != nil else {
            (base, since, state) = (0, now, .stopped)
            return
        }
        place += 1
        (base, since) = (0, now)
    }

    /// Goes back to the item before, or to the beginning of the first one.
    package mutating func goToPrevious(now: UInt64) {
        place = max(place - 1, 0)
        (base, since) = (0, now)
    }

    /// Goes to a position in the current item, or to its end.
    package mutating func seek(to position: Int64, now: UInt64) {
        (base, since) = (min(max(position, 0), current?.length ?? 0), now)
    }

    /// - Parameter volume: From 0 to 1; others are clamped.
    package mutating func setVolume(_ volume: Double) { self.volume = min(max(volume, 0), 1) }

    /// Plays the rest in a random order, or again in the given one. The current item stays.
    package mutating func toggleShuffle(using random: inout some RandomNumberGenerator) {
        isShuffled.toggle()
        if isShuffled {
            shuffle(using: &random)
        } else {
            place = order[at: place] ?? 0
            order = Array(entries.indices)
        }
    }

    /// Puts the current item first, and the others after it in a random order.
    private mutating func shuffle(using random: inout some RandomNumberGenerator) {
        guard let first = order[at: place] else { return }
        order = [first] + entries.indices.filter { $0 != first }.shuffled(using: &random)
        place = 0
    }

    private mutating func resume(at position: Int64, now: UInt64) {
        guard let current else { return state = .stopped }
        (base, since, state) = (min(max(position, 0), current.length), now, .playing)
    }
}
