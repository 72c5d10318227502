import ArgumentParser
import HeliographAPI

/// A place on the screen as an argument: `x,y` in pixels of a snapshot.
struct ScreenPlace {
    /// The largest coordinate.
    private static let limit = 65535.0

    let x: Double
    let y: Double

    /// - Throws: A message about an argument that is not a place.
    init(_ text: String) throws(ValidationError) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Double($0) }.filter { (0...Self.limit).contains($0) }
        guard parts.count == 2, numbers.count == 2 else {
            throw ValidationError("'\(text)' is not a place: use x,y in pixels of a snapshot, such as 412,300.")
        }
        (x, y) = (numbers[0], numbers[1])
    }

    /// The members `x` and `y` of an action.
    var members: [JSONValue.Member] {
        [.init(name: "x", value: Self.json(x)), .init(name: "y", value: Self.json(y))]
    }

    /// The place as an array.
    var array: JSONValue { .array([Self.json(x), Self.json(y)]) }

    /// Returns a number without a needless fraction.
    static func json(_ number: Double) -> JSONValue {
        Int(exactly: number).map { .integer($0) } ?? .number(number)
    }
}
