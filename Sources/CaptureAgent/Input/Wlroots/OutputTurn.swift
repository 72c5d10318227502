/// How a monitor's picture is turned. Frames have the orientation in which the picture is sent to the monitor. The
/// compositor turns the places of a pointer that belongs to an output, but not the distances.
package struct OutputTurn: Equatable {
    /// Clockwise quarter turns, 0 to 3, that make a frame upright.
    private let turns: UInt8
    /// Whether the turned picture is mirrored, left to right.
    private let isMirrored: Bool

    package init(turns: UInt8, isMirrored: Bool) {
        self.turns = turns & 3
        self.isMirrored = isMirrored
    }

    /// Returns a distance in the frame as one in the upright picture.
    package func distance(dx: Double, dy: Double) -> (dx: Double, dy: Double) {
        let (turnedX, turnedY) =
            switch turns {
            case 1: (-dy, dx)
            case 2: (-dx, -dy)
            case 3: (dy, -dx)
            default: (dx, dy)
            }
        return (isMirrored ? -turnedX : turnedX, turnedY)
    }
}
