import Foundation
import Fuzzing

/// The program that Scripts/fuzz runs.
///
/// `--list` prints the targets, `--words TARGET` prints a target's words as a libFuzzer dictionary, and `TARGET FILE…`
/// checks inputs. Compiled with FUZZING and the compiler's coverage, `TARGET` with libFuzzer's arguments generates
/// inputs.
@main
enum FuzzCommand {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.dropFirst().first.flatMap(target)) {
        case ("--list", _): for target in FuzzTarget.all { print(target) }
        case ("--words", let target?): for word in target.words { print(quoted(word)) }
        default:
            guard let target = arguments.first.flatMap(target) else {
                print("usage: Fuzz --list | --words TARGET | TARGET FILE…")
                exit(64)
            }
            try run(target, Array(arguments.dropFirst()))
        }
    }

    private static func target(named name: String) -> FuzzTarget? { FuzzTarget.all.first { $0.name == name } }

    /// Returns the word in quotes, each byte in hexadecimal.
    private static func quoted(_ word: String) -> String {
        let bytes = word.utf8.map { "\\x" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        return "\"\(bytes.joined())\""
    }

    #if FUZZING
    // Unsafe because it is written once, before the driver calls back on the same thread.
    private nonisolated(unsafe) static var check: ([UInt8]) throws -> Void = { _ in }

    /// `int LLVMFuzzerRunDriver(int *, char ***, int (*)(const uint8_t *, size_t))`: calls back until it has to stop.
    @_silgen_name("LLVMFuzzerRunDriver")
    private static func runDriver(
        _ count: UnsafeMutablePointer<CInt>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
        _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt

    private static func run(_ target: FuzzTarget, _ arguments: [String]) throws {
        check = target.check
        var arguments = ([CommandLine.arguments[0]] + arguments).map { strdup($0) }
        var count = CInt(arguments.count)
        arguments.append(nil)
        let status = arguments.withUnsafeMutableBufferPointer { buffer in
            var first = buffer.baseAddress!
            return runDriver(&count, &first) { bytes, count in
                do {
                    try FuzzCommand.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
                } catch {
                    // libFuzzer treats this like any crash: it keeps the input.
                    fatalError("\(error)")
                }
                return 0
            }
        }
        exit(status)
    }
    #else
    private static func run(_ target: FuzzTarget, _ files: [String]) throws {
        for file in files { try target.check([UInt8](Data(contentsOf: URL(fileURLWithPath: file)))) }
    }
    #endif
}
