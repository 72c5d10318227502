import CPixels
import Media

/// A copy of the screen for watches to compare with, which finds where each new picture differs.
///
/// Owned by one thread.
final class WatchedPicture {
    /// The number of rows that are compared together. Their differences form one rectangle.
    private static let bandHeight = 16

    let picture: PackedPicture

    init(size: PictureSize, format: PixelFormat) { picture = PackedPicture(size: size, format: format) }

    /// The number of bytes that a copy takes.
    static func byteCount(of size: PictureSize) -> Int { size.width * size.height * PixelFormat.bytesPerPixel }

    var size: PictureSize { picture.description.size }

    /// Copies the first picture.
    func begin(with pixels: Pixels) {
        for row in 0..<size.height {
            self.row(row).update(from: pixels.row(row), count: size.width * PixelFormat.bytesPerPixel)
        }
    }

    /// Copies what differs in the next picture, which has the same size and format.
    ///
    /// - Parameter willChange: Called for each part before it is copied.
    /// - Returns: The parts.
    func follow(_ pixels: Pixels, willChange: (PictureRegion) -> Void) -> [PictureRegion] {
        var parts: [PictureRegion] = []
        for top in stride(from: 0, to: size.height, by: Self.bandHeight) {
            let rows = top..<min(top + Self.bandHeight, size.height)
            var part = PictureRegion(x: 0, y: 0, width: 0, height: 0)
            for row in rows {
                let span = cpixels_difference(self.row(row), pixels.row(row), size.width)
                let width = span.end - span.first
                part = part.union(PictureRegion(x: span.first, y: row, width: width, height: width > 0 ? 1 : 0))
            }
            guard !part.isEmpty else { continue }
            willChange(part)
            for row in part.rows {
                let offset = part.x * PixelFormat.bytesPerPixel
                (self.row(row) + offset).update(
                    from: pixels.row(row) + offset,
                    count: part.width * PixelFormat.bytesPerPixel
                )
            }
            parts.append(part)
        }
        return parts
    }

    private func row(_ row: Int) -> UnsafeMutablePointer<UInt8> { picture.first + row * picture.description.stride }

    var pixels: Pixels { Pixels(first: picture.first, stride: picture.description.stride) }
}

/// Rows of pixels in memory of another owner.
struct Pixels {
    let first: UnsafePointer<UInt8>
    /// Bytes from one row to the next.
    let stride: Int

    init(first: UnsafePointer<UInt8>, stride: Int) {
        self.first = first
        self.stride = stride
    }

    func row(_ row: Int) -> UnsafePointer<UInt8> { first + row * stride }

    /// Returns the same rows, starting at another pixel.
    func from(_ region: PictureRegion) -> Pixels {
        Pixels(first: row(region.y) + region.x * PixelFormat.bytesPerPixel, stride: stride)
    }
}
