package import Foundation

/// A folder that lives as long as this value.
package final class Scratch: Sendable {
    package let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)

    package init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    package func file(_ name: String) -> URL {
        folder.appendingPathComponent(name)
    }

    package func write(_ bytes: [UInt8], to name: String) throws -> URL {
        try Data(bytes).write(to: file(name))
        return file(name)
    }

    /// Writes a script that may be run, and returns its path.
    package func program(_ script: String, named name: String) throws -> String {
        let source = try write(Array(script.utf8), to: name + ".source")
        // In another process: a child that this one forks meanwhile would hold a file that it writes itself open, and
        // then the file cannot be run (execve(2), ETXTBSY).
        _ = try Tool.run("/usr/bin/install", ["--mode=755", source.path, file(name).path])
        return file(name).path
    }
}

/// Runs programs that read and write files, and ends them if they take too long.
package enum Tool {
    package struct Failure: Error {
        package var program: String
        package var status: Int32
        package var messages: String
    }

    /// Returns the standard output of `program`, which must succeed within `deadline` seconds without output on
    /// standard error.
    package static func run(_ program: String, _ arguments: [String], deadline: Int = 300) throws -> String {
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
