/// Files that are read again when they have changed.
package struct WatchedFiles: Sendable {
    private let paths: [String]
    private var stamps: [FileStamp?]
    /// Whether they are to be read again though they have not changed.
    private var isDue = false

    /// Begins with the files as they are now: made before they are read, so that what is written in between shows at the next look.
    package init(_ paths: [String]) {
        self.paths = paths
        stamps = paths.map(FileStamp.init(path:))
    }

    /// Whether they have changed since the last look, or are to be read again. Costs a stat(2) each.
    package mutating func look() -> Bool {
        let now = paths.map(FileStamp.init(path:))
        guard isDue || now != stamps else { return false }
        stamps = now
        isDue = false
        return true
    }

    /// Has the next look say that they have changed: what could not be read now may be readable then.
    package mutating func readAgain() { isDue = true }
}
