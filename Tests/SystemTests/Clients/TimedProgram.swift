import Foundation
import TestSupport

/// A running program and the lines that it writes, each with the time since its start.
final class TimedProgram: @unchecked Sendable {
    // Unchecked because what changes after the initialiser is touched only while `changed` is locked.

    enum Output: Int, CaseIterable {
        case standard, errors
    }

    private struct Line {
        let text: String
        let after: Duration
    }

    /// How long a client may take for any step, in s.
    private static let patience = 20.0

    private let name: String
    private let process = Process()
    private let input = Pipe()
    private let start: ContinuousClock.Instant
    private let changed = NSCondition()
    private var lines: [[Line]] = [[], []]
    /// How many lines of each output have been read.
    private var taken = [0, 0]
    /// Outputs that are still open.
    private var open = Output.allCases.count

    /// Starts a program.
    ///
    /// - Parameter environment: Variables in addition to this process's environment.
    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        name = program
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        let pipes = Output.allCases.map { _ in Pipe() }
        (process.standardOutput, process.standardError) = (pipes[0], pipes[1])
        start = .now
        try Programs.start(process)
        for output in Output.allCases {
            let handle = pipes[output.rawValue].fileHandleForReading
            Thread.detachNewThread { [self] in read(handle, as: output) }
        }
    }

    /// Reads lines until `parse` accepts one. Returns the result and the time of that line.
    func next<Value>(
        _ what: String,
        on output: Output = .standard,
        _ parse: (String) -> Value?
    ) throws -> (value: Value, after: Duration) {
        let limit = Date(timeIntervalSinceNow: Self.patience)
        guard let found = wait(until: limit, { take(output, parse) }) else { throw never(what) }
        return found
    }

    /// Repeats `question` until a line of standard output answers it.
    func answer<Value>(
        to question: String,
        _ parse: (String) -> Value?
    ) throws -> (value: Value, after: Duration) {
        let limit = Date(timeIntervalSinceNow: Self.patience)
        while Date() < limit, isOpen {
            try input.fileHandleForWriting.write(contentsOf: Data("\(question)\n".utf8))
            let soon = Date(timeIntervalSinceNow: 0.05)
            if let found = wait(until: soon, { take(.standard, parse) }) { return found }
        }
        throw never("an answer to \(question)")
    }

    /// All lines of an output so far, without empty ones.
    func lines(on output: Output) -> [String] {
        changed.withLock { lines[output.rawValue].map(\.text).filter { !$0.isEmpty } }
    }

    /// Waits until the program has ended by itself, and returns its status.
    func waitForEnd() throws -> Int32 {
        let limit = Date(timeIntervalSinceNow: Self.patience)
        guard wait(until: limit, { open == 0 ? true : nil }) != nil else { throw never("the end") }
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Ends the program if it still runs.
    func end() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    private var isOpen: Bool { changed.withLock { open > 0 } }

    /// Waits until `look`, which runs with `changed` locked, returns a value. Returns `nil` if the time or the program
    /// ends first.
    private func wait<Value>(until limit: Date, _ look: () -> Value?) -> Value? {
        changed.withLock {
            while true {
                if let value = look() { return value }
                guard open > 0, changed.wait(until: limit) else { return nil }
            }
        }
    }

    /// Returns the value of the first line that `parse` accepts. Skips the lines that earlier calls have read.
    private func take<Value>(_ output: Output, _ parse: (String) -> Value?) -> (value: Value, after: Duration)? {
        while taken[output.rawValue] < lines[output.rawValue].count {
            let line = lines[output.rawValue][taken[output.rawValue]]
            taken[output.rawValue] += 1
            if let value = parse(line.text) { return (value, line.after) }
        }
        return nil
    }

    private func never(_ what: String) -> NeverCame {
        let said = Output.allCases.flatMap { lines(on: $0) }.suffix(10).joined(separator: "\n")
        return NeverCame(description: "\(what) of \(name), which says: \(said)")
    }

    private func read(_ handle: FileHandle, as output: Output) {
        var rest: [UInt8] = []
        while case let bytes = handle.availableData, !bytes.isEmpty {
            let after = ContinuousClock.now - start
            rest += bytes
            // A carriage return ends a line that the program then overwrites.
            let parts = rest.split(omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x0D }
            rest = Array(parts.last ?? [])
            let new = parts.dropLast().map { Line(text: String(decoding: $0, as: UTF8.self), after: after) }
            changed.withLock {
                lines[output.rawValue] += new
                changed.broadcast()
            }
        }
        changed.withLock {
            if !rest.isEmpty {
                lines[output.rawValue].append(
                    Line(text: String(decoding: rest, as: UTF8.self), after: ContinuousClock.now - start)
                )
            }
            open -= 1
            changed.broadcast()
        }
    }
}
