import Relay
import TestSupport
import Testing

@Suite("What a client of the library plays")
struct PlaybackTests {
    private static let second: UInt64 = 1_000_000_000
    private static let entries = (1...5).map { Playback.Entry(item: $0, device: "left", length: 10_000_000) }

    private static func playing(_ entries: [Playback.Entry] = entries, from place: Int = 0) -> Playback {
        var (playback, random) = (Playback(), SeededGenerator(seed: 1))
        playback.play(entries, from: place, at: 0, now: 0, using: &random)
        return playback
    }

    @Test("its position grows while it plays, up to the item's end")
    func position() {
        var playback = Self.playing()
        #expect(playback.position(at: 3 * Self.second) == 3_000_000)
        playback.pause(now: 4 * Self.second)
        playback.pause(now: 6 * Self.second)
        #expect(playback.state == .paused && playback.position(at: 9 * Self.second) == 4_000_000)
        playback.resume(now: 9 * Self.second)
        playback.resume(now: 10 * Self.second)
        #expect(playback.position(at: 11 * Self.second) == 6_000_000)
        #expect(playback.position(at: 99 * Self.second) == 10_000_000)
        playback.seek(to: 99_000_000, now: 99 * Self.second)
        #expect(playback.position(at: 99 * Self.second) == 10_000_000)
        playback.seek(to: 1, now: 99 * Self.second)
        // A clock that does not advance, or is read late.
        #expect(playback.position(at: 0) == 1)
    }

    @Test("it goes through the queue, and stops after the last item")
    func queue() {
        var playback = Self.playing(from: 3)
        #expect(playback.current?.item == 4 && playback.next?.item == 5 && playback.place == 3)
        playback.goToNext(now: 0)
        #expect(playback.current?.item == 5 && playback.next == nil)
        playback.goToNext(now: 7)
        #expect(playback.state == .stopped && playback.current?.item == 5 && playback.position(at: 99) == 0)
        playback.resume(now: 100)
        #expect(playback.state == .playing)
        for _ in 0..<9 { playback.goToPrevious(now: 100) }
        #expect(playback.current?.item == 1 && playback.state == .playing)
    }

    @Test("a shuffled queue has the same items, the current one first, and returns to its order")
    func shuffle() {
        var (playback, random) = (Self.playing(from: 2), SeededGenerator(seed: 7))
        playback.toggleShuffle(using: &random)
        #expect(playback.isShuffled && playback.current?.item == 3 && playback.place == 0)
        var seen: [Int64] = []
        while let current = playback.current {
            seen.append(current.item)
            if playback.next == nil { break }
            playback.goToNext(now: 0)
        }
        #expect(seen.sorted() == [1, 2, 3, 4, 5] && seen != [3, 1, 2, 4, 5])
        playback.toggleShuffle(using: &random)
        #expect(playback.current?.item == seen.last && playback.place == Int(seen.last ?? 0) - 1)

        playback.toggleShuffle(using: &random)
        playback.play(Self.entries, from: 4, at: 0, now: 0, using: &random)
        #expect(playback.current?.item == 5 && playback.place == 0)
    }

    @Test("an empty queue plays nothing")
    func empty() {
        var (playback, random) = (Playback(), SeededGenerator(seed: 1))
        for command in [LibraryMessage.Command.resume, .pause, .next, .previous, .seek(5)] {
            #expect(!playback.carryOut(command, now: 0, using: &random))
        }
        #expect(playback.carryOut(.setVolume(0.5), now: 0, using: &random))
        #expect(playback.carryOut(.toggleShuffle, now: 0, using: &random))
        #expect(playback.volume == 0.5 && playback.isShuffled && playback.state == .stopped)
        playback.play([], from: 3, at: 5, now: 0, using: &random)
        #expect(playback.state == .stopped && playback.current == nil && playback.position(at: 9) == 0)
    }

    @Test("whatever comes, its place is in the queue and its position in the item", arguments: 0..<20)
    func random(_ seed: UInt64) {
        var (playback, random) = (Playback(), SeededGenerator(seed: seed))
        var now: UInt64 = 0
        for _ in 0..<500 {
            now += UInt64.random(in: 0...(5 * Self.second), using: &random)
            switch Int.random(in: 0...9, using: &random) {
            case 0:
                let count = Int.random(in: 0...5, using: &random)
                let place = Int.random(in: 0...7, using: &random)
                playback.play(Array(Self.entries.prefix(count)), from: place, at: 5, now: now, using: &random)
            case 1: playback.pause(now: now)
            case 2: playback.resume(now: now)
            case 3: playback.seek(to: .random(in: -5...20_000_000, using: &random), now: now)
            case 4: playback.toggleShuffle(using: &random)
            case 5, 6: playback.goToPrevious(now: now)
            default: playback.goToNext(now: now)
            }
            #expect((playback.current == nil) == (playback.length == 0))
            #expect(0...10_000_000 ~= playback.position(at: now))
            if playback.length == 0 { #expect(playback.state != .playing) }
        }
    }
}
