package import HeliographAPI
package import Media
package import NIOCore

/// Decides which pictures a bitrate is good for: fewer of them first, then smaller ones.
package struct RateLadder: Sendable {
    /// The bits per pixel below which a step is left, and above which it is taken again.
    private static let (least, ample) = (0.02, 0.032)
    /// How long there must be too few before a step is left: a bitrate that falls for a moment does not count.
    private static let patience = TimeAmount.seconds(1)

    /// What is left of the frame rate and of the pixels.
    private struct Step {
        let fps, pixels: Double
    }

    private static let steps = [
        Step(fps: 1, pixels: 1), Step(fps: 0.5, pixels: 1), Step(fps: 0.5, pixels: 0.5), Step(fps: 0.5, pixels: 0.25),
    ]
    /// Never fewer pictures per second than this, unless the session has fewer.
    private static let leastFPS = 10

    private var step = 0
    /// Since when there are too few bits; `nil` if there are enough.
    private var poorSince: NIODeadline?

    package init() {}

    /// Returns the settings for a bitrate.
    ///
    /// - Parameters:
    ///   - request: What the session was asked for.
    ///   - size: The size of its pictures without any step; `nil` if it is not known yet.
    package mutating func settings(
        for bitrate: Int,
        of request: SessionRequest,
        in size: PictureSize?,
        now: NIODeadline
    ) -> SessionRequest {
        if let size {
            while step > 0, bits(bitrate, at: step - 1, request, size) > Self.ample { step -= 1 }
            let isPoor = bits(bitrate, at: step, request, size) < Self.least
            poorSince = isPoor ? poorSince ?? now : nil
            if let poorSince, now - poorSince >= Self.patience {
                while step < Self.steps.count - 1, bits(bitrate, at: step, request, size) < Self.least { step += 1 }
            }
        }
        var settings = request
        settings.bitrate = bitrate
        settings.fps = fps(at: step, request)
        if let size, Self.steps[step].pixels < 1 {
            let pixels = max(256, Int(Double(size.width * size.height) * Self.steps[step].pixels))
            settings.maxPixels = min(request.maxPixels ?? pixels, pixels)
        }
        return settings
    }

    private func fps(at step: Int, _ request: SessionRequest) -> Int {
        max(min(request.fps, Self.leastFPS), Int(Double(request.fps) * Self.steps[step].fps))
    }

    /// Bits for each pixel.
    private func bits(_ bitrate: Int, at step: Int, _ request: SessionRequest, _ size: PictureSize) -> Double {
        let pixels = Double(size.width * size.height) * Self.steps[step].pixels
        return Double(bitrate) / (pixels * Double(fps(at: step, request)))
    }
}
