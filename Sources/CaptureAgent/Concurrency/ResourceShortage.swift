/// Something that the system refuses the agent because a limit is reached.
package enum ResourceShortage: Error, Equatable, CustomStringConvertible {
    /// A file descriptor, and the system's reason.
    case descriptors(String)
    /// A thread, and the system's reason.
    case threads(String)

    /// What happened and what to do, for a person.
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
