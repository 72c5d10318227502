import Foundation
import TestSupport

/// Reads what Tests/Desktop/allocation-preload.c counts.
struct Allocations {
    struct Thread {
        var name: String
        var calls: Int
        var bytes: Int
    }

    private static let recordSize = 64

    let folder: URL
    let library: URL

    /// Prepares a folder in the desktop's, where its user may write.
    init(in desktop: Desktop) throws {
        library = try desktop.stage(tool: "allocation-preload")
        folder = desktop.directory.appendingPathComponent("allocations")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        chmod(folder.path, 0o1777)
    }

    var environment: [String: String] { ["LD_PRELOAD": library.path, "ALLOCATION_COUNTS": folder.path] }

    /// Returns the allocations of a process so far, by thread.
    func threads(of process: Int32) throws -> [Int: Thread] {
        let data = [UInt8](try Data(contentsOf: folder.appendingPathComponent(String(process))))
        func number(_ place: Int) -> Int { data[place..<(place + 8)].reversed().reduce(0) { $0 << 8 | Int($1) } }
        let records = stride(from: 0, to: data.count, by: Self.recordSize).filter { number($0) != 0 }
        return Dictionary(
            records.map { place in
                let name = String(decoding: data[(place + 32)..<(place + 64)].prefix { $0 != 0 }, as: UTF8.self)
                return (number(place), Thread(name: name, calls: number(place + 8), bytes: number(place + 16)))
            },
            uniquingKeysWith: { one, _ in one }
        )
    }

    /// Calls and bytes of a process from `earlier` on, by its threads' names.
    func since(_ earlier: [Int: Thread], of process: Int32) throws -> [String: (calls: Int, bytes: Int)] {
        var result: [String: (calls: Int, bytes: Int)] = [:]
        for (id, thread) in try threads(of: process) {
            result[thread.name, default: (0, 0)].calls += thread.calls - (earlier[id]?.calls ?? 0)
            result[thread.name, default: (0, 0)].bytes += thread.bytes - (earlier[id]?.bytes ?? 0)
        }
        return result.filter { $0.value.calls > 0 }
    }

    /// Runs a program that allocates a known number of times, and returns the count.
    func control(calls: Int, bytes: Int, in desktop: Desktop) async throws -> (calls: Int, bytes: Int) {
        let tool = try desktop.stage(tool: "allocate")
        let process = desktop.process(
            "env",
            environment.map { "\($0)=\($1)" } + [tool.path, "\(calls)", "\(bytes)", "1"]
        )
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try Programs.start(process)
        var said = ""
        while !said.hasSuffix("end\n") {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw BenchError(description: "the control has ended") }
            said += String(decoding: data, as: UTF8.self)
        }
        let counted = try threads(of: process.processIdentifier).values
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        return counted.reduce((0, 0)) { ($0.0 + $1.calls, $0.1 + $1.bytes) }
    }
}
