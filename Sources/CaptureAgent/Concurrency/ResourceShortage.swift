/// A resource that the system refuses because a limit is reached.
package enum ResourceShortage: Error, Equatable, CustomStringConvertible {
    /// No file descriptor; the value is the system's reason.
    case descriptors(String)
    /// No thread; the value is the system's reason.
    case threads(String)

    /// A message for people: what happened and what to do.
    package var description: String {
        switch self {
        case .descriptors(let reason):
            "The system refuses the agent another file descriptor (\(reason)). Raise its limit of open files: "
                + "ulimit -n, or LimitNOFILE= of the service that starts it."
        case .threads(let reason):
            "The system refuses the agent another thread (\(reason)). Raise the limit of its user's processes: "
                + "ulimit -u, or LimitNPROC= and TasksMax= of the service that starts it."
        }
    }
}
