import CSDL
import HeliographClient

/// The sessions in the window: which of them are shown, where, and with which picture.
@MainActor
final class Wall {
    /// A session's part of it.
    private struct Tile {
        let feed: SessionFeed
        let texture: PictureTexture
        /// What is said of the session besides its picture.
        var notice: String?
        /// The geometry of the shown picture, for input.
        var geometry: UInt32 = 0
    }

    private let window: Window
    private var tiles: [Tile]
    /// The units whose pictures are drawn next.
    private var drawing: [(feed: SessionFeed, unit: MediaUnit)] = []
    /// The session that is shown alone; `nil` for all.
    var selected: Int?
    /// Whether a pixel of a picture that is shown alone is one of the window.
    var isUnscaled = false

    init(_ feeds: [SessionFeed], _ window: Window) {
        self.window = window
        tiles = feeds.map { Tile(feed: $0, texture: PictureTexture(window)) }
        selected = feeds.count == 1 ? 0 : nil
    }

    func close() {
        for tile in tiles { tile.texture.close() }
    }

    /// The session that is shown alone.
    var shown: SessionFeed? { selected.map { tiles[$0].feed } }

    private func isShown(_ index: Int) -> Bool { selected == nil || selected == index }

    // MARK: Pictures

    /// Takes the shown sessions' new pictures.
    ///
    /// - Returns: Whether there are any, or something else has changed.
    func takePictures() throws(ViewerError) -> Bool {
        var isNew = takeNotices()
        for index in tiles.indices where isShown(index) {
            guard let picture = tiles[index].feed.takeNewest() else { continue }
            try tiles[index].texture.take(picture.frame)
            tiles[index].geometry = picture.geometry
            drawing.append((tiles[index].feed, picture.unit))
            isNew = true
        }
        return isNew
    }

    private func takeNotices() -> Bool {
        var isNew = false
        for index in tiles.indices {
            let notice = tiles[index].feed.notice
            if notice != tiles[index].notice { (tiles[index].notice, isNew) = (notice, true) }
        }
        return isNew
    }

    /// Draws the shown sessions.
    func draw(by painter: TextPainter?) {
        SDL_SetRenderDrawColor(window.renderer, 0, 0, 0, 255)
        SDL_RenderClear(window.renderer)
        for (index, cell) in cells {
            let tile = tiles[index]
            if let place = place(of: tile.texture, in: cell) { tile.texture.draw(at: place) }
            if let text = tile.notice { painter?.draw(text, at: .middle, in: cell) }
            if selected == nil { painter?.draw(tile.feed.name, at: .corner(.bottomLeft), in: cell) }
        }
    }

    /// Notes that what was drawn is on the display.
    func presented() {
        for (feed, unit) in drawing { feed.live?.presented(unit) }
        drawing = []
    }

    // MARK: Places

    /// Where each shown session is.
    private var cells: [(index: Int, cell: PixelRectangle)] {
        if let selected { return [(selected, window.area)] }
        let cells = WallLayout.cells(tiles.count, width: window.area.width, height: window.area.height)
        return cells.enumerated().map { ($0.offset, $0.element) }
    }

    private func place(of texture: PictureTexture, in cell: PixelRectangle) -> PicturePlace? {
        guard texture.isFilled else { return nil }
        return PicturePlace(
            width: texture.width,
            height: texture.height,
            orientation: texture.orientation,
            in: cell,
            isUnscaled: isUnscaled && selected != nil
        )
    }

    /// A place in a shown picture.
    struct Point {
        let index: Int
        let place: Input.Place
        /// Whether it is in the picture. Otherwise, the place is the nearest one there.
        let isInside: Bool
    }

    /// Returns the session at a point in the desktop's units, and the place in its picture.
    ///
    /// - Parameter feed: The session to look in, wherever the point is; `nil` for the one at the point.
    func point(_ x: Int32, _ y: Int32, in feed: SessionFeed?) -> Point? {
        let scale = window.scale
        return point(x: (Double(x) + 0.5) * scale, y: (Double(y) + 0.5) * scale, in: feed)
    }

    /// Returns the place at a point whose coordinates are shares of the window, 0 to 1, likewise.
    func point(share x: Float, _ y: Float, in feed: SessionFeed?) -> Point? {
        point(x: Double(x) * Double(window.size.width), y: Double(y) * Double(window.size.height), in: feed)
    }

    /// Returns how far a distance in the desktop's units is in a session's picture; `nil` without a picture.
    func distance(_ dx: Int32, _ dy: Int32, in feed: SessionFeed) -> (dx: Double, dy: Double)? {
        let scale = window.scale
        guard let (index, cell) = cells.first(where: { tiles[$0.index].feed === feed }) else { return nil }
        return place(of: tiles[index].texture, in: cell)?
            .pictureDistance(dx: Double(dx) * scale, dy: Double(dy) * scale)
    }

    private func point(x: Double, y: Double, in feed: SessionFeed?) -> Point? {
        let found = cells.first { feed == nil ? $0.cell.contains(x: x, y: y) : tiles[$0.index].feed === feed }
        guard let (index, cell) = found, let place = place(of: tiles[index].texture, in: cell) else { return nil }
        let point = place.picturePoint(x: x, y: y)
        return Point(
            index: index,
            place: Input.Place(x: point.x, y: point.y, geometry: tiles[index].geometry),
            isInside: place.area.contains(x: x, y: y)
        )
    }
}
