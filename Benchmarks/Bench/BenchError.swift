/// Why a measurement came to nothing.
struct BenchError: Error, CustomStringConvertible {
    var description: String
}
