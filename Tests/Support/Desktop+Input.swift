import Foundation

/// An event that the desktop's logging client got: a line of Tests/Desktop/input_log.h.
package struct InputEvent: Sendable, Equatable, CustomStringConvertible {
    /// When the client got it, in monotonic ns.
    package let time: UInt64
    package let name: String
    package let fields: [String]

    fileprivate init?(_ line: Substring) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count >= 2, let time = UInt64(words[0]) else { return nil }
        (self.time, name, fields) = (time, words[1], Array(words[2...]))
    }

    package var description: String { ([name] + fields).joined(separator: " ") }

    /// The place of an event of the pointer or a finger: its last two fields.
    package var place: (x: Double, y: Double)? {
        let numbers = fields.suffix(2).compactMap(Double.init)
        return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
    }

    /// What a key types; empty for other events, and for keys that are released.
    package var text: String {
        guard name == "key", fields.count == 4, fields[1] != "up", fields[3] != "-" else { return "" }
        return fields[3].removingPercentEncoding ?? ""
    }
}

extension Desktop {
    /// Starts a client that fills the screen and logs what pointer, keyboard and touch do to it.
    package func startInputLog() throws {
        let outcome = try Programs.run(Programs.desktop, ["input", directory.path, "start"])
        guard outcome.status == 0 else { throw Failure(message: outcome.errors) }
    }

    /// Returns what the logging client got so far.
    ///
    /// - Parameter log: The name of its log, without `.log`.
    package func inputEvents(in log: String = "input") throws -> [InputEvent] {
        let log = try String(contentsOf: directory.appendingPathComponent("run/\(log).log"), encoding: .utf8)
        // The last line may be half written.
        let lines = log.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return lines.compactMap(InputEvent.init)
    }
}
