import CCounterPattern
package import Media
import Wire

/// A synthetic screen that needs no desktop: a test card with a frame counter.
///
/// Frame `n` shows the counter value `n` and is delivered `n / fps` seconds after the start, if it is wanted: a slower
/// session gets fewer. Its pixels depend only on `n` and the size.
package struct TestPatternSource: FrameSource {
    package let kind = "test-pattern"
    package let size: PictureSize
    /// Frames per second, 1 to 240.
    package let fps: Int

    package func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError) {
        let demandChanged = try SourceError.explainingShortage { () throws(ResourceShortage) in try Event() }
        demand.observe { _ in demandChanged.set() }
        defer { demand.observe(nil) }
        sink.sourceChanged(SourceStatus(state: .streaming, size: size, orientation: 0))
        let (start, rate) = (MonotonicClock.now, UInt64(fps))
        var next: UInt64 = 0
        while !stop.isSet {
            demandChanged.clear()
            let wanted = demand.value
            guard wanted.isWanted else {
                sink.outdated()
                _ = Event.wait(forAnyOf: [stop, demandChanged], until: nil)
                next = (MonotonicClock.now - start) * rate / 1_000_000_000 + 1
                continue
            }
            let due = start + next * 1_000_000_000 / rate
            if Event.wait(forAnyOf: [stop, demandChanged], until: due) { continue }
            sink.receive(Self.frame(number: UInt32(truncatingIfNeeded: next), size: size, captured: MonotonicClock.now))
            next += max(1, rate / UInt64(max(1, wanted.maximumRate)))
        }
    }

    /// Returns the frame that shows the counter value `number`, modulo 2^24.
    package static func frame(number: UInt32, size: PictureSize, captured: UInt64) -> CapturedFrame {
        CapturedFrame(pixels(number: number, size: size), captured: captured)
    }

    /// Returns the pixels of that frame.
    package static func pixels(number: UInt32, size: PictureSize) -> FramePixels {
        let stride = size.width * PixelFormat.bytesPerPixel
        let description = FrameDescription(size: size, stride: stride, format: .bgrx)
        return FramePixels(description: description) { memory in
            let first = memory.bindMemory(to: UInt8.self).baseAddress
            let (width, height) = (UInt32(size.width), UInt32(size.height))
            counter_pattern_draw_background(first, UInt32(stride), width, height)
            counter_pattern_draw_motion(first, UInt32(stride), width, height, number)
            counter_pattern_draw(first, UInt32(stride), width, height, number)
        }
    }
}
