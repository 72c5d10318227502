/// Where the programs keep what outlives them.
package enum StateFolder {
    /// The folder below the XDG base directory specification's `XDG_STATE_HOME`, which is `~/.local/state` unless it says otherwise; nil where neither it nor a home is set.
    package static func path(in environment: [String: String]) -> String? {
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        return (folder("XDG_STATE_HOME") ?? folder("HOME").map { $0 + "/.local/state" }).map { $0 + "/heliograph" }
    }
}
