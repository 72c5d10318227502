import Foundation
import TestSupport

/// A folder that lives as long as this value.
final class Scratch {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func file(_ name: String) -> URL {
        folder.appendingPathComponent(name)
    }

    func write(_ bytes: [UInt8], to name: String) throws -> URL {
        try Data(bytes).write(to: file(name))
        return file(name)
    }
}

/// Programs that read and write files and are ended when they take too long.
enum Tool {
    struct Failure: Error {
        var program: String
        var status: Int32
        var messages: String
    }

    /// The standard output of `program`, which must succeed without a word on standard error within `deadline` seconds.
    static func run(_ program: String, _ arguments: [String], deadline: Int = 300) throws -> String {
        let outcome = try Programs.run(
            URL(fileURLWithPath: "/usr/bin/timeout"),
            ["--kill-after=5", "\(deadline)", program] + arguments
        )
        guard outcome.status == 0, outcome.errors.isEmpty else {
            throw Failure(program: program, status: outcome.status, messages: outcome.errors)
        }
        return outcome.output
    }
}
