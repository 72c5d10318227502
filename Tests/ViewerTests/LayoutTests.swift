import Testing
import Viewer

@Suite("Where pictures are in the window")
struct LayoutTests {
    @Test("a wall's cells cover the window in rows, without overlap", arguments: [1, 2, 3, 4, 5, 9, 16, 64])
    func wall(count: Int) {
        let cells = WallLayout.cells(count, width: 1920, height: 1080)
        #expect(cells.count == count)
        for (index, cell) in cells.enumerated() {
            #expect(cell.x >= 0 && cell.y >= 0 && cell.x + cell.width <= 1920 && cell.y + cell.height <= 1080)
            for other in cells[..<index] {
                let isApart =
                    other.x + other.width <= cell.x || cell.x + cell.width <= other.x
                    || other.y + other.height <= cell.y || cell.y + cell.height <= other.y
                #expect(isApart)
            }
        }
        #expect(cells.last.map { $0.y + $0.height } == 1080)
    }

    @Test("two sessions stand side by side in a wide window, and one above the other in a high one")
    func shapes() {
        let wide = WallLayout.cells(2, width: 2000, height: 600)
        #expect(wide[0].y == wide[1].y && wide[1].x > 0)
        let high = WallLayout.cells(2, width: 600, height: 2000)
        #expect(high[0].x == high[1].x && high[1].y > 0)
    }

    @Test("a picture keeps its shape, in the middle")
    func shape() {
        let cell = PixelRectangle(x: 100, y: 50, width: 1000, height: 1000)
        let place = PicturePlace(width: 1920, height: 1080, orientation: 0, in: cell)
        #expect(place.area == PixelRectangle(x: 100, y: 268, width: 1000, height: 563))
        let turned = PicturePlace(width: 1920, height: 1080, orientation: 1, in: cell)
        #expect(turned.area == PixelRectangle(x: 318, y: 50, width: 563, height: 1000))
        // Turned about its middle, it covers the area.
        #expect(turned.unturned == PixelRectangle(x: 100, y: 268, width: 1000, height: 563))
        let small = PicturePlace(width: 640, height: 360, orientation: 0, in: cell, isUnscaled: true)
        #expect(small.area == PixelRectangle(x: 280, y: 370, width: 640, height: 360))
    }

    @Test("a point of the window is that of the encoded picture, whichever way it is turned")
    func points() {
        let cell = PixelRectangle(x: 0, y: 0, width: 400, height: 400)
        // The middle of the upright picture's first pixel, of 40 by 20 encoded ones.
        let expected: [(Double, Double)] = [(0.5, 0.5), (0.5, 19.5), (39.5, 19.5), (39.5, 0.5)]
        for orientation in 0...3 {
            let place = PicturePlace(width: 40, height: 20, orientation: orientation, in: cell)
            let point = place.picturePoint(x: Double(place.area.x) + 5, y: Double(place.area.y) + 5)
            #expect(point == expected[orientation], "\(orientation)")
            let further = place.picturePoint(x: Double(place.area.x) + 45, y: Double(place.area.y) + 25)
            let distance = place.pictureDistance(dx: 40, dy: 20)
            #expect(distance == (further.x - point.x, further.y - point.y), "\(orientation)")
        }
        let place = PicturePlace(width: 40, height: 20, orientation: 0, in: cell)
        let outside = place.picturePoint(x: 1000, y: -5)
        #expect(outside.x < 40 && outside.x > 39.99 && outside.y == 0)
    }
}
