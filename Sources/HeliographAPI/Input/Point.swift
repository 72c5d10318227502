/// A place in the picture, in its pixels.
struct Point {
    var x: Double
    var y: Double

    init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

    /// Reads two coordinates.
    init?(_ numbers: [Double]) {
        guard let x = numbers.first, let y = numbers.dropFirst().first, numbers.count == 2 else { return nil }
        self.init(x: centred(x), y: centred(y))
    }

    /// Returns the place on the way to another.
    ///
    /// - Parameter share: The part of the way, 0 to 1.
    func towards(_ other: Point, _ share: Double) -> Point {
        guard share < 1 else { return other }
        return Point(x: x + (other.x - x) * share, y: y + (other.y - y) * share)
    }
}

/// Returns a coordinate for the agent: a whole number means the middle of that pixel.
func centred(_ coordinate: Double) -> Double {
    coordinate == coordinate.rounded() ? coordinate + 0.5 : coordinate
}
