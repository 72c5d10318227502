/// Where a picture is in its cell: upright, with its shape kept, in the middle.
package struct PicturePlace: Sendable, Hashable {
    /// The encoded picture's size.
    private let width, height: Int
    /// The clockwise quarter turns that make it upright.
    package let orientation: Int
    /// Where the upright picture is.
    package let area: PixelRectangle

    /// - Parameters:
    ///   - width: Of the encoded picture, at least 1; likewise `height`.
    ///   - orientation: The clockwise quarter turns that make it upright, 0 to 3.
    ///   - isUnscaled: Whether a pixel of the picture is one of the window, if the picture fits.
    package init(width: Int, height: Int, orientation: Int, in cell: PixelRectangle, isUnscaled: Bool = false) {
        (self.width, self.height, self.orientation) = (width, height, orientation & 3)
        let (across, down) = orientation % 2 == 1 ? (height, width) : (width, height)
        let fitting = min(Double(cell.width) / Double(across), Double(cell.height) / Double(down))
        let scale = isUnscaled ? min(1, fitting) : fitting
        let (shownWidth, shownHeight) = (
            max(1, Int((Double(across) * scale).rounded())), max(1, Int((Double(down) * scale).rounded()))
        )
        area = PixelRectangle(
            x: cell.x + (cell.width - shownWidth) / 2,
            y: cell.y + (cell.height - shownHeight) / 2,
            width: shownWidth,
            height: shownHeight
        )
    }

    /// Where to draw the encoded picture before it is turned about its middle.
    package var unturned: PixelRectangle {
        guard orientation % 2 == 1 else { return area }
        return PixelRectangle(
            x: area.x + (area.width - area.height) / 2,
            y: area.y + (area.height - area.width) / 2,
            width: area.height,
            height: area.width
        )
    }

    /// Returns which place of the encoded picture is at a point of the window, within the picture.
    package func picturePoint(x: Double, y: Double) -> (x: Double, y: Double) {
        let (dx, dy) = pictureDistance(dx: x - Double(area.x), dy: y - Double(area.y))
        // The encoded picture's corner that is the upright one's top left.
        let cornerX = orientation == 2 || orientation == 3 ? width : 0
        let cornerY = orientation == 1 || orientation == 2 ? height : 0
        return (Self.clamped(Double(cornerX) + dx, width), Self.clamped(Double(cornerY) + dy, height))
    }

    /// Returns how far a distance in the window is in the encoded picture.
    package func pictureDistance(dx: Double, dy: Double) -> (dx: Double, dy: Double) {
        let (across, down) = orientation % 2 == 1 ? (height, width) : (width, height)
        let u = dx * Double(across) / Double(area.width)
        let v = dy * Double(down) / Double(area.height)
        return switch orientation {
        case 1: (v, -u)
        case 2: (-u, -v)
        case 3: (-v, u)
        default: (u, v)
        }
    }

    /// Returns a coordinate within a side. Messages have 16 bits after the point.
    private static func clamped(_ value: Double, _ side: Int) -> Double {
        min(max(value, 0), Double(side) - 1 / 65536)
    }
}
