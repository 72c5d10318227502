import Foundation

/// The resources that a process uses.
package struct Footprint: Sendable, Equatable {
    package var descriptors: Int
    package var threads: Int
    /// Resident memory in KiB.
    package var memory: Int

    package init(of pid: Int32) throws {
        let files = FileManager.default
        descriptors = try files.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
        threads = try files.contentsOfDirectory(atPath: "/proc/\(pid)/task").count
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let memory = line?.split(separator: " ").compactMap({ Int($0) }).first else {
            throw NeverCame(description: "process \(pid) has ended")
        }
        self.memory = memory
    }
}
