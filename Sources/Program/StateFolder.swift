/// The folder for data that outlives the programs.
package enum StateFolder {
    /// Returns the folder in `XDG_STATE_HOME` (XDG base directory specification), by default `~/.local/state`.
    ///
    /// Returns `nil` if neither that variable nor a home is set.
    package static func path(in environment: [String: String]) -> String? {
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        return (folder("XDG_STATE_HOME") ?? folder("HOME").map { $0 + "/.local/state" }).map { $0 + "/heliograph" }
    }
}
