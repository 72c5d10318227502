import Foundation

extension Desktop {
    /// A resource whose soft limit can be lowered (getrlimit(2)).
    package enum Limit {
        /// Open files: every descriptor is below this number.
        case descriptors
        /// The length of a file that the process writes, in bytes.
        case fileLength

        fileprivate var option: String { self == .descriptors ? "nofile" : "fsize" }
        /// The name in /proc.
        fileprivate var name: String { self == .descriptors ? "Max open files" : "Max file size" }
    }

    /// Lowers a limit of a process of this desktop while `body` runs.
    package func limiting<Value>(
        _ limit: Limit,
        to value: Int,
        of pid: Int32,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8).split(separator: "\n")
        let columns = limits.first { $0.hasPrefix(limit.name) }?.dropFirst(limit.name.count).split(separator: " ")
        guard let before = columns?.first else { throw Failure(message: "/proc/\(pid)/limits has no \(limit.name)") }
        try set(limit, "\(value)", of: pid)
        defer { try? set(limit, String(before), of: pid) }
        return try await body()
    }

    private func set(_ limit: Limit, _ value: String, of pid: Int32) throws {
        // As the process's own user, who may do this.
        let process = process("prlimit", ["--pid", "\(pid)", "--\(limit.option)=\(value):"])
        try Programs.start(process)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(message: "the limit \(limit.name) of process \(pid) could not be set")
        }
    }
}
