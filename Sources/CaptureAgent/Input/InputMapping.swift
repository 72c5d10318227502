package import Media

/// What a session's coordinates mean on the captured screen.
package struct InputMapping: Sendable, Equatable {
    private let source: PictureSize
    private let fit: PictureFit
    /// The number that stands for this meaning, not 0; see `Snapshot.Picture.geometry`.
    package let geometry: UInt32

    /// - Parameters:
    ///   - source: The size of the source's frames.
    ///   - orientation: Clockwise quarter turns that make a frame upright.
    ///   - size: The size that the session asks for.
    package init(source: PictureSize, orientation: UInt8, size: RequestedSize) {
        self.source = source
        fit = PictureFit(source: source, output: size.resolved(source: source))
        // FNV-1a. Two different geometries have the same number in one case of 2^32.
        var hash: UInt32 = 0x811C_9DC5
        for number in [source.width, source.height, fit.output.width, fit.output.height, Int(orientation)] {
            for shift in [0, 8] {
                hash = (hash ^ UInt32(truncatingIfNeeded: number >> shift & 0xFF)) &* 0x0100_0193
            }
        }
        geometry = max(1, hash)
    }

    /// The picture's part that shows the source, in pixels. An unscaled picture shows the source's pixels themselves,
    /// of which it may lack the last column and row.
    private var content: PictureSize { fit.isUnscaled ? source : fit.content }

    /// Returns the place of a point of the session's picture, or `nil` if the source is not shown there.
    package func place(x: Double, y: Double) -> InputPlace? {
        let (x, y) = (x - Double(fit.x), y - Double(fit.y))
        guard x >= 0, y >= 0, x < Double(fit.content.width), y < Double(fit.content.height) else { return nil }
        return InputPlace(
            x: x / Double(content.width),
            y: y / Double(content.height),
            width: source.width,
            height: source.height
        )
    }

    /// Returns the point of the session's picture next to `x`, `y` at which the source is shown.
    package func nearest(x: Double, y: Double) -> (x: Double, y: Double) {
        func clamped(_ value: Double, from start: Int, count: Int) -> Double {
            min(max(value, Double(start)), Double(start + count).nextDown)
        }
        return (
            clamped(x, from: fit.x, count: fit.content.width), clamped(y, from: fit.y, count: fit.content.height)
        )
    }

    /// Returns a distance in the session's picture as one in pixels of the source.
    package func distance(dx: Double, dy: Double) -> (dx: Double, dy: Double) {
        (
            dx * Double(source.width) / Double(content.width),
            dy * Double(source.height) / Double(content.height)
        )
    }
}
