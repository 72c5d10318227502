// Measures queries of a library with many items.
//
//     LibraryBench FOLDER [ITEMS]
//
// FOLDER keeps the catalogue, so that a second run skips the filling. The files themselves do not exist.
import Glibc
import Library

guard CommandLine.arguments.count >= 2, let count = Int(CommandLine.arguments.dropFirst(2).first ?? "1000000") else {
    print("usage: LibraryBench FOLDER [ITEMS]")
    exit(64)
}
let bench = LibraryBench(library: try Library(folder: CommandLine.arguments[1]), count: count)
try bench.fill()
let isFast = try bench.measure()
try bench.measureChanges()
exit(isFast ? 0 : 1)
