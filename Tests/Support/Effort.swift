import Foundation

/// How much a test does that can be long: little by default, everything in Scripts/verify.
package enum Effort {
    /// Whether the machine is given to this run, and time with it.
    package static let isWhole = ProcessInfo.processInfo.environment["HELIOGRAPH_VERIFY"] == "1"

    package static func choose<Value>(_ little: Value, whole: Value) -> Value { isWhole ? whole : little }
}
