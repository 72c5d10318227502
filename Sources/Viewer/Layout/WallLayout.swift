/// Where the sessions of a wall are in the window.
package enum WallLayout {
    /// The gap between two sessions, in pixels.
    private static let gap = 2
    /// The shape of a typical picture, for which cells are made.
    private static let shape = 16.0 / 9

    /// Returns a cell for each session, row by row: in the number of columns with which pictures are largest.
    package static func cells(_ count: Int, width: Int, height: Int) -> [PixelRectangle] {
        guard count > 1 else {
            return [PixelRectangle(x: 0, y: 0, width: width, height: height)].prefix(count).map { $0 }
        }
        func rows(_ columns: Int) -> Int { (count + columns - 1) / columns }
        func pictureWidth(_ columns: Int) -> Double {
            min(Double(width) / Double(columns), Double(height) / Double(rows(columns)) * shape)
        }
        let columns = (1...count).max { pictureWidth($0) < pictureWidth($1) } ?? 1
        return (0..<count).map { index in
            let (column, row) = (index % columns, index / columns)
            // Edges at whole pixels, so that no column is wider than another one by more than one.
            let (left, right) = (column * width / columns, (column + 1) * width / columns)
            let (top, bottom) = (row * height / rows(columns), (row + 1) * height / rows(columns))
            return PixelRectangle(
                x: left + (column > 0 ? gap : 0),
                y: top + (row > 0 ? gap : 0),
                width: max(1, right - left - (column > 0 ? gap : 0)),
                height: max(1, bottom - top - (row > 0 ? gap : 0))
            )
        }
    }
}
