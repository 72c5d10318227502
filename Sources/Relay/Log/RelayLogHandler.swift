package import Logging

/// A logger's way to the process's ``LogWriter``.
package struct RelayLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let writer: LogWriter
    /// What this logger was told; else the writer's level counts, which may change.
    private var ownLevel: Logger.Level?

    package init(label: String, writer: LogWriter) {
        self.label = label
        self.writer = writer
    }

    package var logLevel: Logger.Level {
        get { ownLevel ?? writer.level }
        set { ownLevel = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let explicit = event.metadata { all.merge(explicit) { $1 } }
        if let error = event.error { all["error"] = "\(error)" }
        writer.log(
            .init(
                level: event.level,
                label: label,
                source: event.source,
                message: event.message.description,
                metadata: all
            )
        )
    }
}

/// How a line of the log is written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, label, metadata, module, message.
    case text
    /// For programs: a JSON object a line.
    case json
}
