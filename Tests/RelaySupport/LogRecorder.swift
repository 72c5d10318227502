package import Logging
import Synchronization

/// A log handler that keeps what is logged.
package final class LogRecorder: Sendable {
    package struct Line: Sendable {
        package let level: Logger.Level
        package let message: String
        package let metadata: [String: String]
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var logLevel = Logger.Level.info
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let line = Line(
                level: event.level,
                message: event.message.description,
                metadata: all.mapValues(\.description)
            )
            recorder.kept.withLock { $0.append(line) }
        }
    }

    private let kept = Mutex<[Line]>([])

    package init() {}

    package var lines: [Line] { kept.withLock { $0 } }

    package var logger: Logger { Logger(label: "recorded") { _ in Handler(recorder: self) } }
}
