/// How a line of the log is written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time, level, label, metadata, module, message.
    case text
    /// For programs: a JSON object a line.
    case json
}
