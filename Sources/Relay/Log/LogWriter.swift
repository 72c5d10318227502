import FoundationEssentials
import HeliographAPI
package import Logging
import NIOCore
import Synchronization

/// The destination of all log lines of a process. It writes them in one format, and leaves out repeated ones.
package final class LogWriter: Sendable {
    private struct State: Sendable {
        var level: Logger.Level
        var repeated = RepeatedLines()
    }

    /// One line of the log.
    struct Line {
        var level: Logger.Level
        var label: String
        var source: String
        var message: String
        var metadata: Logger.Metadata
    }

    /// Hummingbird's metadata key for a request's number.
    private static let requestID = "hb.request.id"

    private let format: LogFormat
    private let write: @Sendable (String) -> Void
    private let state: Mutex<State>

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - level: The least severe level that is logged, for loggers without their own level.
    ///   - write: Takes each complete line, one call at a time per caller.
    package init(format: LogFormat, level: Logger.Level, write: @escaping @Sendable (String) -> Void) {
        self.format = format
        self.write = write
        state = Mutex(State(level: level))
    }

    /// The least severe level that is logged. May change at any time.
    package var level: Logger.Level {
        get { state.withLock { $0.level } }
        set { state.withLock { $0.level = newValue } }
    }

    func log(_ line: Line) {
        var metadata = line.metadata
        // The request's number makes every line different, so it is removed. Audit lines keep it, because they are
        // never repetitions.
        if line.message != CallAudit.message.description { metadata[Self.requestID] = nil }
        let key = "\(line.level) \(line.label) \(Self.text(of: metadata))\(line.message)"
        let now = NIODeadline.now()
        let (leftOut, ended) = state.withLock { state in
            (state.repeated.take(key, now: now), state.repeated.ended(now: now))
        }
        for (other, count) in ended where other != key { emit(notice(other, count), of: line) }
        guard let leftOut else { return }
        if leftOut > 0 { emit(notice(key, leftOut), of: line) }
        emit(line)
    }

    private func notice(_ line: String, _ count: Int) -> String { "left out \(count) times: \(line)" }

    private func emit(_ message: String, of line: Line) {
        emit(Line(level: .notice, label: line.label, source: line.source, message: message, metadata: [:]))
    }

    private func emit(_ line: Line) {
        write((format == .json ? json(line) : text(line)) + "\n")
    }

    private func text(_ line: Line) -> String {
        // Line breaks are replaced; otherwise the rest of a message could pass for a line of its own.
        let message = Self.escaped(line.message.split(whereSeparator: \.isNewline).joined(separator: " | "))
        let time = Date().apiText
        return "\(time) \(line.level) \(line.label): \(Self.text(of: line.metadata))[\(line.source)] \(message)"
    }

    private func json(_ line: Line) -> String {
        let value: JSONValue = [
            "time": .string(Date().apiText), "level": .string(line.level.rawValue), "logger": .string(line.label),
            "source": .string(line.source), "message": .string(line.message),
            "metadata": .object(
                line.metadata.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .string("\($0.value)")) }
            ),
        ]
        return value.text
    }

    private static func text(of metadata: Logger.Metadata) -> String {
        metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\(escaped("\($0.value)")) " }.joined()
    }

    /// Returns `text` without characters that end the line or move a terminal's cursor.
    private static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
