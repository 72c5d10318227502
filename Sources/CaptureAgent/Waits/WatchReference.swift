import CPixels
import Media
import Wire

/// What a watch compares a region of the screen with: the region's earlier content, or a template.
///
/// Owned by one thread.
final class WatchReference {
    /// The number of rows whose differences are counted together.
    private static let bandHeight = 16

    let region: PictureRegion
    private let picture: PackedPicture
    /// One byte per pixel, 0 for those that do not count; `nil` if all count.
    private let mask: [UInt8]?
    /// How many pixels count.
    let pixelCount: Int
    /// The number of differing pixels in each band, and their bounding box.
    private var bands: [(count: Int, box: PictureRegion)]

    private init(region: PictureRegion, picture: PackedPicture, mask: [UInt8]?) {
        self.region = region
        self.picture = picture
        self.mask = mask
        pixelCount = mask?.count { $0 != 0 } ?? region.width * region.height
        let count = (region.height + Self.bandHeight - 1) / Self.bandHeight
        bands = Array(repeating: (0, PictureRegion(x: 0, y: 0, width: 0, height: 0)), count: count)
    }

    /// Creates a reference of a region's current content on `screen`, without the ignored parts.
    convenience init(_ region: PictureRegion, of screen: WatchedPicture, ignoring ignored: [PictureRegion]) {
        let size = PictureSize(width: region.width, height: region.height)
        var mask: [UInt8]?
        if !ignored.isEmpty {
            var bytes = [UInt8](repeating: 1, count: region.width * region.height)
            for part in ignored.map(region.intersection) where !part.isEmpty {
                for row in part.rows {
                    let first = (row - region.y) * region.width + part.x - region.x
                    for pixel in first..<(first + part.width) { bytes[pixel] = 0 }
                }
            }
            mask = bytes
        }
        self.init(
            region: region,
            picture: PackedPicture(size: size, format: screen.picture.description.format),
            mask: mask
        )
        take(screen)
    }

    /// Creates a reference of a template at a place, in the byte order of `screen`.
    ///
    /// - Throws: `WatchRefusal` if it is not a PNG image, or if no pixel of it counts.
    convenience init(template: [UInt8], x: Int, y: Int, in screen: WatchedPicture) throws(WatchRefusal) {
        do {
            let (region, picture, mask) = try template.withUnsafeBytes { bytes in
                let image = try PNGPicture(bytes)
                let region = PictureRegion(x: x, y: y, width: image.size.width, height: image.size.height)
                // Checked before its pixels are read, because a small file may hold a huge image.
                guard PictureRegion(screen.size).contains(region), !region.isEmpty else {
                    throw WatchRefusal(.outside)
                }
                let picture = PackedPicture(size: image.size, format: screen.picture.description.format)
                try image.draw(into: picture.first, stride: picture.description.stride)
                return (region, picture, Self.mask(of: picture, hasBlueFirst: picture.description.format.blueFirst))
            }
            guard mask.contains(where: { $0 != 0 }) else { throw WatchRefusal(.brokenTemplate) }
            self.init(region: region, picture: picture, mask: mask)
        } catch let refusal as WatchRefusal {
            throw refusal
        } catch {
            throw WatchRefusal(.brokenTemplate)
        }
        compare(region, with: screen)
    }

    /// Returns which pixels of a BGRA picture count: those that are mostly opaque. Converts the colours to the screen's
    /// order.
    private static func mask(of picture: PackedPicture, hasBlueFirst: Bool) -> [UInt8] {
        let (size, stride) = (picture.description.size, picture.description.stride)
        var mask = [UInt8](repeating: 0, count: size.width * size.height)
        for row in 0..<size.height {
            for column in 0..<size.width {
                let pixel = picture.first + row * stride + column * PixelFormat.bytesPerPixel
                mask[row * size.width + column] = pixel[3] >= 128 ? 1 : 0
                if !hasBlueFirst { (pixel[0], pixel[2]) = (pixel[2], pixel[0]) }
            }
        }
        return mask
    }

    /// Replaces the reference with the screen's current content.
    func take(_ screen: WatchedPicture) {
        let source = screen.pixels.from(region)
        for row in 0..<region.height {
            (picture.first + row * picture.description.stride).update(
                from: source.row(row),
                count: region.width * PixelFormat.bytesPerPixel
            )
        }
        for band in bands.indices { bands[band] = (0, PictureRegion(x: 0, y: 0, width: 0, height: 0)) }
    }

    /// Compares a part of the screen again.
    ///
    /// - Parameter tolerance: How far a colour may be from its reference, 0 to 255.
    func compare(_ part: PictureRegion, with screen: WatchedPicture, tolerance: UInt8 = 0) {
        let part = region.intersection(part)
        guard !part.isEmpty else { return }
        let first = (part.y - region.y) / Self.bandHeight
        let last = (part.rows.upperBound - 1 - region.y) / Self.bandHeight
        let source = screen.pixels.from(region)
        for band in first...last {
            let top = band * Self.bandHeight
            let rows = top..<min(top + Self.bandHeight, region.height)
            var (count, box) = (0, PictureRegion(x: 0, y: 0, width: 0, height: 0))
            for row in rows {
                var span = cpixels_span()
                count += compare(row, with: source, tolerance, &span)
                let width = span.end - span.first
                let found = PictureRegion(
                    x: region.x + span.first,
                    y: region.y + row,
                    width: width,
                    height: width > 0 ? 1 : 0
                )
                box = box.union(found)
            }
            bands[band] = (count, box)
        }
    }

    private func compare(_ row: Int, with source: Pixels, _ tolerance: UInt8, _ span: inout cpixels_span) -> Int {
        let own = UnsafePointer(picture.first + row * picture.description.stride)
        guard let mask else {
            return cpixels_count(own, source.row(row), nil, region.width, tolerance, &span)
        }
        return mask.withUnsafeBufferPointer { mask in
            cpixels_count(
                own,
                source.row(row),
                mask.baseAddress.map { $0 + row * region.width },
                region.width,
                tolerance,
                &span
            )
        }
    }

    /// How many pixels differ, and their bounding box.
    var difference: (count: Int, box: PictureRegion) {
        bands.reduce((0, PictureRegion(x: 0, y: 0, width: 0, height: 0))) { sum, band in
            (sum.0 + band.count, sum.1.union(band.box))
        }
    }
}
