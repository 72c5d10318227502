/// The reason why a measurement failed.
struct BenchError: Error, CustomStringConvertible {
    var description: String
}
