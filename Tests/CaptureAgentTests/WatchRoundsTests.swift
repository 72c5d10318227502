import CaptureAgent
import Media
import TestSupport
import Testing
import Wire

@Suite("Watches in the agent")
struct WatchRoundsTests {
    private static let size = PictureSize(width: 96, height: 64)

    /// A screen of one colour with rectangles of others.
    private static func frame(
        captured: UInt64,
        format: PixelFormat = .bgrx,
        _ rectangles: [(PictureRegion, UInt8)] = []
    ) -> CapturedFrame {
        let description = FrameDescription(size: size, stride: size.width * 4 + 16, format: format)
        let pixels = FramePixels(description: description) { memory in
            for offset in memory.indices { memory[offset] = 10 }
            for (region, colour) in rectangles {
                for row in region.rows {
                    for column in region.columns {
                        for byte in 0..<3 { memory[row * description.stride + column * 4 + byte] = colour }
                    }
                }
            }
        }
        return CapturedFrame(pixels, captured: captured)
    }

    private static func region(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PictureRegion {
        PictureRegion(x: x, y: y, width: width, height: height)
    }

    /// Shows frames to one watch and returns its first answer.
    private static func outcome(
        _ watch: Watch,
        size: RequestedSize = RequestedSize(),
        now: UInt64 = .max / 2,
        _ frames: [CapturedFrame]
    ) -> WatchReport.Outcome? {
        var rounds = WatchRounds()
        rounds.add(watch, of: 1, size: size, newest: frames.first)
        for frame in frames.dropFirst() {
            if let answer = rounds.answers(now: 0).first { return answer.report.outcome }
            rounds.follow(frame) { _ in size }
        }
        return rounds.answers(now: now).first?.report.outcome
    }

    @Test("a change is any pixel of the region that is not the same, and what is around it does not matter")
    func change() {
        let watch = Watch(id: 1, goal: .changed, region: Self.region(40, 20, 20, 20))
        // Two clocks, left and right of the region, in the same rows.
        let clocks = (1...50).map { number in
            Self.frame(
                captured: UInt64(number),
                [(Self.region(0, 24, 40, 8), UInt8(number)), (Self.region(60, 24, 30, 8), UInt8(number))]
            )
        }
        #expect(Self.outcome(watch, clocks) == nil)
        let last = Self.frame(captured: 99, [(Self.region(59, 39, 1, 1), 11)])
        #expect(
            Self.outcome(watch, clocks + [last]) == .happened(captured: 99, box: Self.region(59, 39, 1, 1))
        )
    }

    @Test("a frame that is older than the last one is ignored")
    func olderFrame() {
        let watch = Watch(id: 1, goal: .changed)
        let older = Self.frame(captured: 5, [(Self.region(0, 0, 9, 9), 99)])
        #expect(Self.outcome(watch, [Self.frame(captured: 10), older]) == nil)
    }

    @Test("a session whose size changes goes on with the frame that the screen still shows")
    func newSize() {
        var rounds = WatchRounds()
        let frame = Self.frame(captured: 10)
        rounds.add(Watch(id: 1, goal: .static, settled: 1), of: 1, size: RequestedSize(), newest: frame)
        #expect(rounds.nextTime == 1_000_010)
        let half = RequestedSize(width: 48, height: 32)
        rounds.follow(frame) { _ in half }
        #expect(rounds.nextTime == 1_000_010)
        #expect(rounds.answers(now: 2_000_000).map(\.report.id) == [1])
    }

    @Test("a copy of the screen that would take too much memory is refused")
    func memory() {
        var rounds = WatchRounds()
        let frame = Self.frame(captured: 10)
        // Each size needs its own copy, of 7680 × 4320 pixels or a little less: 133 MB.
        for number in 0..<4 {
            let size = RequestedSize(width: 7680, height: 4320 - 2 * number)
            rounds.add(Watch(id: UInt32(number), goal: .changed), of: 1, size: size, newest: frame)
        }
        #expect(rounds.answers(now: 0).map(\.report) == [])
        let size = RequestedSize(width: 7680, height: 4000)
        rounds.add(Watch(id: 9, goal: .changed), of: 1, size: size, newest: frame)
        #expect(rounds.answers(now: 0).map(\.report) == [WatchReport(id: 9, outcome: .refusal(.busy))])
        rounds.remove(0)
        rounds.add(Watch(id: 10, goal: .changed), of: 1, size: size, newest: frame)
        #expect(rounds.answers(now: 0).isEmpty)
    }

    @Test("the byte that is not a colour does not count")
    func padding() {
        let description = FrameDescription(size: Self.size, stride: Self.size.width * 4, format: .rgbx)
        let frames = (0..<3).map { number in
            CapturedFrame(
                FramePixels(description: description) { memory in
                    for offset in memory.indices { memory[offset] = offset % 4 == 3 ? UInt8(number) : 7 }
                },
                captured: UInt64(number)
            )
        }
        #expect(Self.outcome(Watch(id: 1, goal: .changed), frames) == nil)
    }

    @Test("a screen is static since the last change; a caret in an ignored part is none")
    func staticScreen() {
        var watch = Watch(id: 1, goal: .static, settled: 1)
        let caret = Self.region(30, 30, 2, 10)
        let frames = (1...20).map { number in
            Self.frame(captured: UInt64(number) * 100_000, [(caret, number % 2 == 0 ? 255 : 10)])
        }
        // The last blink is at 2.0 ms.
        #expect(Self.outcome(watch, now: 2_900_000, frames) == nil)
        #expect(Self.outcome(watch, now: 3_000_000, frames) == .happened(captured: 2_000_000, box: caret))
        watch.ignored = [Self.region(0, 0, 5, 5), Self.region(29, 29, 8, 12)]
        #expect(
            Self.outcome(watch, now: 1_100_000, frames)
                == .happened(captured: 100_000, box: Self.region(0, 0, 0, 0))
        )
    }

    @Test("small differences of colour, and a share of the pixels, may be allowed; slow ones add up")
    func tolerance() {
        var watch = Watch(id: 1, goal: .changed, tolerance: 3, region: Self.region(0, 0, 10, 10))
        let fade = (0..<4).map { Self.frame(captured: UInt64($0), [(Self.region(0, 0, 10, 10), UInt8(10 + $0))]) }
        #expect(Self.outcome(watch, fade) == nil)
        let further = Self.frame(captured: 9, [(Self.region(0, 0, 10, 10), 14)])
        #expect(Self.outcome(watch, fade + [further]) == .happened(captured: 9, box: Self.region(0, 0, 10, 10)))
        watch.tolerance = 0
        watch.share = 40_000
        func dots(_ count: Int) -> CapturedFrame {
            Self.frame(captured: UInt64(count), (0..<count).map { (Self.region($0, 3, 1, 1), 200) })
        }
        #expect(Self.outcome(watch, [dots(0), dots(1), dots(2), dots(3), dots(4)]) == nil)
        #expect(
            Self.outcome(watch, [dots(0), dots(3), dots(5)]) == .happened(captured: 5, box: Self.region(0, 3, 5, 1))
        )
    }

    @Test("a template matches where its opaque pixels are, in either byte order", arguments: [PixelFormat.bgrx, .rgbx])
    func template(format: PixelFormat) {
        // Its right half is transparent.
        let png = PNG.make(width: 8, height: 4) { x, _ in (80, 80, 80, x < 4 ? 255 : 0) }
        let watch = Watch(id: 1, goal: .matches, region: Self.region(20, 50, 0, 0), template: png)
        let blank = Self.frame(captured: 1, format: format)
        let shown = Self.frame(captured: 2, format: format, [(Self.region(20, 50, 4, 4), 80)])
        let shifted = Self.frame(captured: 3, format: format, [(Self.region(21, 50, 4, 4), 80)])
        let box = Self.region(20, 50, 8, 4)
        #expect(Self.outcome(watch, [blank, shifted]) == nil)
        #expect(Self.outcome(watch, [blank, shown]) == .happened(captured: 2, box: box))
        #expect(Self.outcome(watch, [shown]) == .happened(captured: 2, box: box), "it may be there already")
        var gone = watch
        gone.goal = .gone
        #expect(Self.outcome(gone, [shown, shown]) == nil)
        let cleared = Self.frame(captured: 3, format: format)
        #expect(Self.outcome(gone, [shown, cleared]) == .happened(captured: 3, box: box))
    }

    @Test("colours of a template are red, green and blue")
    func colours() {
        let png = PNG.make(width: 2, height: 2) { _, _ in (200, 100, 50, 255) }
        for format in [PixelFormat.bgrx, .rgbx] {
            let description = FrameDescription(size: Self.size, stride: Self.size.width * 4, format: format)
            let colour: [UInt8] = format.blueFirst ? [50, 100, 200, 0] : [200, 100, 50, 0]
            let frame = CapturedFrame(
                FramePixels(description: description) { memory in
                    for offset in memory.indices { memory[offset] = colour[offset % 4] }
                },
                captured: 1
            )
            let watch = Watch(id: 1, goal: .matches, template: png)
            #expect(Self.outcome(watch, [frame]) == .happened(captured: 1, box: Self.region(0, 0, 2, 2)))
        }
    }

    @Test("impossible watches are refused")
    func refusals() {
        let frame = Self.frame(captured: 1)
        let wide = Watch(id: 1, goal: .changed, region: Self.region(90, 0, 10, 10))
        #expect(Self.outcome(wide, [frame]) == .refusal(.outside))
        let png = PNG.make(width: 8, height: 8)
        let beyond = Watch(id: 1, goal: .matches, region: Self.region(90, 0, 0, 0), template: png)
        #expect(Self.outcome(beyond, [frame]) == .refusal(.outside))
        for template in [[], Array(png.dropLast(40)), [UInt8](repeating: 1, count: 100)] {
            let broken = Watch(id: 1, goal: .matches, template: template)
            #expect(Self.outcome(broken, [frame]) == .refusal(.brokenTemplate))
        }
        let clear = PNG.make(width: 8, height: 8) { _, _ in (0, 0, 0, 0) }
        #expect(Self.outcome(Watch(id: 1, goal: .gone, template: clear), [frame]) == .refusal(.brokenTemplate))
    }

    @Test("content from before an interruption is not compared")
    func interruption() {
        var rounds = WatchRounds()
        rounds.add(Watch(id: 1, goal: .changed), of: 1, size: RequestedSize(), newest: Self.frame(captured: 1))
        rounds.interrupt()
        rounds.follow(Self.frame(captured: 2, [(Self.region(0, 0, 9, 9), 99)])) { _ in RequestedSize() }
        #expect(rounds.answers(now: 9).isEmpty)
        rounds.follow(Self.frame(captured: 3)) { _ in RequestedSize() }
        #expect(rounds.answers(now: 9).map(\.report.id) == [1])
    }

    @Test("pixels are those of the session's snapshot, whatever its size; another size begins anew")
    func scaled() {
        let half = RequestedSize(width: 48, height: 32)
        let watch = Watch(id: 1, goal: .changed, region: Self.region(24, 16, 24, 16))
        let frames = [
            Self.frame(captured: 1), Self.frame(captured: 2, [(Self.region(0, 0, 32, 60), 200)]),
            Self.frame(captured: 3, [(Self.region(80, 50, 8, 8), 200)]),
        ]
        guard case .happened(captured: 3, let box)? = Self.outcome(watch, size: half, frames) else {
            Issue.record("it did not happen")
            return
        }
        #expect(Self.region(24, 16, 24, 16).contains(box) && box.intersection(Self.region(40, 25, 4, 4)).width == 4)
        var rounds = WatchRounds()
        rounds.add(watch, of: 1, size: RequestedSize(), newest: frames[0])
        rounds.follow(frames[2]) { _ in half }
        #expect(rounds.answers(now: 9).isEmpty)
        rounds.follow(frames[0]) { _ in nil }
        #expect(rounds.answers(now: 9).map(\.report.outcome) == [.refusal(.unknownSession)])
    }
}
