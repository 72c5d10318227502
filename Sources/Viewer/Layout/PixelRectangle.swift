/// A rectangle of a window, in pixels from its top left corner.
package struct PixelRectangle: Sendable, Hashable {
    package var x, y, width, height: Int

    package init(x: Int, y: Int, width: Int, height: Int) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }

    package func contains(x: Double, y: Double) -> Bool {
        x >= Double(self.x) && y >= Double(self.y) && x < Double(self.x + width) && y < Double(self.y + height)
    }
}
