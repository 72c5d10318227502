import Foundation

/// A movable wall clock for processes in a desktop: Tests/Desktop/wall-clock-preload.c.
package final class WallClock: Sendable {
    /// The environment of a process that uses it.
    package let environment: [String: String]
    /// The file with the difference, which the preload reads.
    private let file: URL

    package init(in desktop: Desktop) throws {
        file = desktop.directory.appendingPathComponent("wall-clock")
        try Data(count: MemoryLayout<Int64>.size).write(to: file)
        let preload = try desktop.stage(tool: "wall-clock-preload")
        environment = ["LD_PRELOAD": preload.path, "HELIOGRAPH_WALL_CLOCK": file.path]
    }

    /// Sets it to `seconds` ahead of the machine's clock.
    package func move(to seconds: Int) throws {
        // In place: the processes have the file mapped.
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        var nanoseconds = Int64(seconds) * 1_000_000_000
        try handle.write(contentsOf: Data(bytes: &nanoseconds, count: MemoryLayout.size(ofValue: nanoseconds)))
    }

    /// Whether that process goes by it.
    package func isFollowed(by pid: Int32) -> Bool {
        // In pieces, as the kernel returns it; the file's length is reported as 0.
        guard let maps = try? FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(pid)/maps")).readToEnd() else {
            return false
        }
        return String(decoding: maps, as: UTF8.self).contains(file.path)
    }

    /// Returns how far a relay's clock is ahead of the machine's, in seconds, by the time at which it reports a
    /// session's start.
    package static func offset(of relay: RelayProcess) async throws -> Int {
        let session = try await relay.startSession(["width": 16, "height": 16])
        let id = session.integer("id")
        try await relay.post("/screencapture/\(id)/stop")
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return Int(try format.parse(session.string("createdAt") ?? "").timeIntervalSinceNow.rounded())
    }
}
