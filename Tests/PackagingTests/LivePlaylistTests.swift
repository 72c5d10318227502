import Media
import Packaging
import TestSupport
import Testing

@Suite("A live playlist")
struct LivePlaylistTests {
    /// Adds segments of ten parts of 200 ms.
    ///
    /// - Returns: How many were released.
    private func add(
        _ count: Int,
        to playlist: inout LivePlaylist,
        map: Int = 0,
        recordedSince recorded: Int64? = nil
    ) -> Int {
        var released = 0
        for _ in 0..<count {
            let start = playlist.segments.last.map { $0.start + ($0.duration ?? 0) } ?? 0
            playlist.beginSegment(map: map, date: "2026-01-31T12:00:00.000Z", at: start)
            for part in 0..<10 { playlist.add(.init(duration: 200_000, isIndependent: part == 0)) }
            released += playlist.endSegment(lasting: 2_000_000, recordedSince: recorded)
        }
        return released
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

    @Test("keeps what is recorded for half an hour, and only if all is recorded since")
    func recorded() {
        var playlist = LivePlaylist(partTarget: 220_000)
        for number in 0..<4 {
            playlist.addRecorded(
                map: 0,
                date: "2026-01-31T12:00:00.000Z",
                at: Int64(number) * 5_000_000,
                lasting: 5_000_000
            )
        }
        #expect(playlist.released == 4)
        // 20 s before, and 100 s of which the last 60 are in memory.
        #expect(add(50, to: &playlist, recordedSince: 0) == 20)
        #expect(playlist.released == 24 && playlist.segments.count == 54)
        let checked = CheckedPlaylist(playlist.text(run: "r"))
        #expect(checked.faults.isEmpty && checked.first == 0 && checked.segments.count == 54)
        #expect(checked.segments.count { $0.parts.isEmpty } == 54 - 12)
        // For those who may not see the recording.
        let rest = CheckedPlaylist(playlist.text(run: "r", hasPast: false))
        #expect(rest.faults.isEmpty && rest.first == 24 && rest.segments == Array(checked.segments.dropFirst(24)))
        // Only the last half hour.
        #expect(add(1000, to: &playlist, recordedSince: 0) == 1000)
        #expect(playlist.segments.count == 900 && playlist.segments.first?.number == 154)
        // Another file that cannot go on: what is before it goes with its bytes.
        let later = playlist.segments[at: 880]?.start
        #expect(add(1, to: &playlist, recordedSince: later) == 1)
        #expect(playlist.released == 0 && playlist.segments.count == 30)
        #expect(add(20, to: &playlist, recordedSince: later) == 20)
        #expect(playlist.segments.first?.start == later)
        #expect(add(1, to: &playlist) == 1 && playlist.released == 0)
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
        playlist.beginSegment(map: 0, date: "2026-01-31T12:00:00.000Z", at: 0)
        playlist.add(.init(duration: 200_000, isIndependent: true))
        for (segment, part, has) in [
            (0, nil, true), (1, 99, true), (2, 0, true), (2, 1, false), (2, nil, false), (3, nil, false),
        ] as [(UInt64, Int?, Bool)] {
            #expect(playlist.has(.init(segment: segment, part: part)) == has, "\(segment) \(String(describing: part))")
        }
        #expect(!playlist.isFar(.init(segment: 5, part: nil)) && playlist.isFar(.init(segment: 6, part: nil)))
        // The last three segments stay, however large they are.
        #expect(playlist.release(9, recordedSince: nil) == 0 && playlist.segments.count == 3)
    }
}
