/// An event that must not happen while a relay is fuzzed.
struct Fault: Error, CustomStringConvertible {
    /// A text that is the same for all faults of one kind, so that each kind is shown once.
    let kind: String
    /// What happened this time.
    let detail: String

    init(_ kind: String, _ detail: String = "") { (self.kind, self.detail) = (kind, detail) }

    var description: String { detail.isEmpty ? kind : "\(kind): \(detail)" }
}

/// Throws unless `condition` holds.
func expect(_ condition: Bool, _ kind: String, _ detail: @autoclosure () -> String = "") throws(Fault) {
    guard condition else { throw Fault(kind, detail()) }
}
