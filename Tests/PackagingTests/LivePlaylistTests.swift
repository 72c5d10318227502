import Packaging
import TestSupport
import Testing

@Suite("A live playlist")
struct LivePlaylistTests {
    /// Adds segments of ten parts of 200 ms.
    private func add(_ count: Int, to playlist: inout LivePlaylist, map: Int = 0) -> Int {
        var forgotten = 0
        for _ in 0..<count {
            playlist.beginSegment(map: map, date: "2026-01-31T12:00:00.000Z")
            for part in 0..<10 { playlist.add(.init(duration: 200_000, isIndependent: part == 0)) }
            forgotten += playlist.endSegment(lasting: 2_000_000)
        }
        return forgotten
    }

    @Test("keeps the rules, and a minute")
    func window() {
        var playlist = LivePlaylist(partTarget: 220_000)
        var former: CheckedPlaylist?
        var forgotten = 0
        for number in 0..<100 {
            forgotten += add(1, to: &playlist, map: number / 40)
            let checked = CheckedPlaylist(playlist.text(run: "r"))
            #expect(checked.faults.isEmpty && checked.hint == "live/r/\(number + 1).0.m4s")
            #expect(checked.first == forgotten && checked.segments.count == min(number + 1, 30))
            if let former {
                // Segments stay as they are, except that parts of old ones are left out.
                let common = former.segments.dropFirst(checked.first - former.first).map(\.address)
                #expect(checked.segments.map(\.address).starts(with: common))
            }
            former = checked
        }
        #expect(playlist.segments.count == 30 && forgotten == 70)
        #expect(playlist.text(run: "r").contains("\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n"))
        #expect(former?.segments.filter(\.isDiscontinuous).count == 1)
        #expect(former?.segments.filter { !$0.parts.isEmpty }.count == 12)
        playlist.end()
        let ended = CheckedPlaylist(playlist.text(run: "r"))
        #expect(ended.isEnded && ended.hint == nil && ended.faults.isEmpty)
    }

    @Test("leaves out what a client has: segments older than six target durations")
    func skips() {
        var playlist = LivePlaylist(partTarget: 220_000)
        #expect(add(10, to: &playlist) == 0)
        #expect(CheckedPlaylist(playlist.text(run: "r", skips: true)).skipped == 0)
        #expect(add(20, to: &playlist) == 0)
        let (whole, rest) = (
            CheckedPlaylist(playlist.text(run: "r")), CheckedPlaylist(playlist.text(run: "r", skips: true))
        )
        #expect(rest.faults.isEmpty && rest.skipped == 12 && rest.first == 0)
        #expect(rest.segments.map(\.address) == whole.segments.dropFirst(12).map(\.address))
    }

    @Test("knows which places it has, and which are too far in the future")
    func places() {
        var playlist = LivePlaylist(partTarget: 220_000)
        #expect(!playlist.has(.init(segment: 0, part: 0)))
        #expect(add(2, to: &playlist) == 0)
        playlist.beginSegment(map: 0, date: "2026-01-31T12:00:00.000Z")
        playlist.add(.init(duration: 200_000, isIndependent: true))
        for (segment, part, has) in [
            (0, nil, true), (1, 99, true), (2, 0, true), (2, 1, false), (2, nil, false), (3, nil, false),
        ] as [(UInt64, Int?, Bool)] {
            #expect(playlist.has(.init(segment: segment, part: part)) == has, "\(segment) \(String(describing: part))")
        }
        #expect(!playlist.isFar(.init(segment: 5, part: nil)) && playlist.isFar(.init(segment: 6, part: nil)))
        // The last three segments stay, however large they are.
        #expect(playlist.forget(9) == 0 && playlist.segments.count == 3)
    }
}
