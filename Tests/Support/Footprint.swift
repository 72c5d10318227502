import Foundation

/// The resources that a process uses.
package struct Footprint: Sendable, Equatable {
    /// What each open descriptor names, in order: a path, or a kind such as `socket`.
    package var openFiles: [String]
    /// The name of each thread, in order.
    package var threadNames: [String]
    /// Resident memory in KiB.
    package var memory: Int

    package var descriptors: Int { openFiles.count }
    package var threads: Int { threadNames.count }

    package init(of pid: Int32) throws {
        let files = FileManager.default
        let descriptors = "/proc/\(pid)/fd"
        openFiles = try files.contentsOfDirectory(atPath: descriptors).compactMap { descriptor in
            // `nil` if it has been closed meanwhile. "socket:[4711]" is named by its kind alone.
            let target = try? files.destinationOfSymbolicLink(atPath: "\(descriptors)/\(descriptor)")
            return target.map { String($0.prefix { $0 != ":" }) }
        }.sorted()
        let tasks = "/proc/\(pid)/task"
        threadNames = try files.contentsOfDirectory(atPath: tasks).compactMap { task in
            let name = try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)
            return name?.trimmingCharacters(in: .newlines)
        }.sorted()
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let memory = line?.split(separator: " ").compactMap({ Int($0) }).first else {
            throw NeverCame(description: "process \(pid) has ended")
        }
        self.memory = memory
    }

    /// What this process has that it did not have `before`, and the reverse, for a test's message.
    package func difference(from before: Footprint) -> String {
        let changes = [("descriptors", openFiles, before.openFiles), ("threads", threadNames, before.threadNames)]
        return changes.map { kind, now, before in
            let difference = now.difference(from: before)
            let more = difference.insertions.map { change in
                if case .insert(_, let element, _) = change { element } else { "" }
            }
            let fewer = difference.removals.map { change in
                if case .remove(_, let element, _) = change { element } else { "" }
            }
            return "\(kind): more \(more), fewer \(fewer)"
        }.joined(separator: "; ")
    }
}
