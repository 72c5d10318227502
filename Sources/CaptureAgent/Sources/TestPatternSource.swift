import CCounterPattern
package import Media
import Wire

/// A synthetic screen that needs no desktop: a test card with a frame counter.
///
/// Frame `n` shows the counter value `n` and is delivered `n / fps` seconds after the start. Its pixels depend only on
/// `n` and the size.
package struct TestPatternSource: FrameSource {
    package let kind = "test-pattern"
    package let size: PictureSize
    /// Frames per second, 1 to 240.
    package let fps: Int

    package func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError) {
        sink.sourceChanged(SourceStatus(state: .streaming, size: size, orientation: 0))
        let start = MonotonicClock.now
        var number: UInt64 = 0
        while !stop.wait(until: start + number * 1_000_000_000 / UInt64(fps)) {
            sink.receive(
                Self.frame(number: UInt32(truncatingIfNeeded: number), size: size, captured: MonotonicClock.now)
            )
            number += 1
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
