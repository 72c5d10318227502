/// A rectangle of a picture, in pixels from its top left corner.
package struct PictureRegion: Sendable, Hashable, Codable {
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int

    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates the region of a whole picture.
    package init(_ size: PictureSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }

    /// Whether it contains no pixel.
    package var isEmpty: Bool { width <= 0 || height <= 0 }

    package var rows: Range<Int> { y..<max(y, y + height) }
    package var columns: Range<Int> { x..<max(x, x + width) }

    /// Returns whether `other` lies within it.
    package func contains(_ other: PictureRegion) -> Bool {
        columns.lowerBound <= other.columns.lowerBound && other.columns.upperBound <= columns.upperBound
            && rows.lowerBound <= other.rows.lowerBound && other.rows.upperBound <= rows.upperBound
    }

    /// Returns the pixels that are in both regions.
    package func intersection(_ other: PictureRegion) -> PictureRegion {
        let (columns, rows) = (columns.clamped(to: other.columns), rows.clamped(to: other.rows))
        return PictureRegion(x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
    }

    /// Returns the smallest rectangle that contains both regions.
    package func union(_ other: PictureRegion) -> PictureRegion {
        if isEmpty { return other }
        if other.isEmpty { return self }
        let (left, top) = (min(x, other.x), min(y, other.y))
        return PictureRegion(
            x: left,
            y: top,
            width: max(columns.upperBound, other.columns.upperBound) - left,
            height: max(rows.upperBound, other.rows.upperBound) - top
        )
    }
}
