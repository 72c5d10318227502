import Foundation

/// The wall clock of processes in a desktop, which can be moved: Tests/Desktop/wall-clock-preload.c.
package final class WallClock: Sendable {
    /// What a process has to have in its environment to go by it.
    package let environment: [String: String]
    /// How far it is off, as the preload reads it.
    private let file: URL

    package init(in desktop: Desktop) throws {
        file = desktop.directory.appendingPathComponent("wall-clock")
        try Data(count: MemoryLayout<Int64>.size).write(to: file)
        let preload = try desktop.stage(tool: "wall-clock-preload")
        environment = ["LD_PRELOAD": preload.path, "HELIOGRAPH_WALL_CLOCK": file.path]
    }

    /// Moves it to `seconds` ahead of the machine's.
    package func move(to seconds: Int) throws {
        // In place: the processes have the file mapped.
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        var nanoseconds = Int64(seconds) * 1_000_000_000
        try handle.write(contentsOf: Data(bytes: &nanoseconds, count: MemoryLayout.size(ofValue: nanoseconds)))
    }

    /// Whether that process goes by it.
    package func isFollowed(by pid: Int32) -> Bool {
        // In parts, as the kernel gives it, and as a file whose length is said to be 0.
        guard let maps = try? FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(pid)/maps")).readToEnd() else {
            return false
        }
        return String(decoding: maps, as: UTF8.self).contains(file.path)
    }

    /// How far ahead of the machine's clock a relay's is, s: by the instant at which it says that it made a session.
    package static func offset(of relay: RelayProcess) async throws -> Int {
        let session = try await relay.startSession(["width": 16, "height": 16])
        let id = session.integer("id")
        try await relay.post("/screencapture/\(id)/stop")
        let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return Int(try format.parse(session.string("createdAt") ?? "").timeIntervalSinceNow.rounded())
    }
}
