package import Logging

/// Passes a logger's lines to the process's ``LogWriter``.
package struct RelayLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let writer: LogWriter
    /// The level set on this logger; `nil` to use the writer's, which may change.
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

/// The format of log lines.
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, label, metadata, module, message.
    case text
    /// For programs: one JSON object per line.
    case json
}
