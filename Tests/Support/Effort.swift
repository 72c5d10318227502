import Foundation

/// How much a test that can be long does: little by default, all of it in Scripts/verify.
package enum Effort {
    /// Whether the machine is given to this run, and time with it.
    package static let isWhole = ProcessInfo.processInfo.environment["HELIOGRAPH_VERIFY"] == "1"

    package static func choose<Value>(_ little: Value, whole: Value) -> Value { isWhole ? whole : little }
}
