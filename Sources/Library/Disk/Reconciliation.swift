/// What ``Library/reconcile(_:)`` did.
package struct Reconciliation: Sendable, Equatable {
    /// The most problems that are listed. Further ones are only counted.
    package static let mostListed = 1000

    /// Files that the catalogue did not know, and has now.
    package var adopted = 0
    /// Items whose file is gone, and was not missing before.
    package var missing = 0
    /// Missing items whose file has come back.
    package var found = 0
    /// Items that were being recorded when the last relay ended, and whose file was not finalised.
    package var interrupted = 0
    /// Other items whose file's size had changed.
    package var changed = 0
    /// Thumbnails and storyboard files without an item's file. They are removed.
    package var orphans = 0
    /// Deleted items, and recordings with an empty file, whose files are gone now.
    package var deleted = 0
    /// Files that are kept but not in the catalogue, or could not be read, with the reasons.
    package private(set) var problems: [LibraryProblem] = []
    /// The number of all problems.
    package private(set) var problemCount = 0

    package init() {}

    mutating func add(_ path: String, _ reason: String) {
        problemCount += 1
        guard problems.count < Self.mostListed else { return }
        problems.append(LibraryProblem(path: path, reason: reason))
    }

    /// Whether the catalogue and the disk agreed already.
    package var isClean: Bool { self == Reconciliation() }
}
