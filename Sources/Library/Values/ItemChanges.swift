/// What has changed since a mark.
package struct ItemChanges: Sendable, Equatable {
    package struct Change: Sendable, Equatable {
        package let id: Int64
        /// Whether it was deleted. Otherwise it is new or has changed: fetch it.
        package let isRemoved: Bool

        package init(id: Int64, isRemoved: Bool) {
            self.id = id
            self.isRemoved = isRemoved
        }
    }

    /// The most changes that the catalogue keeps, and returns at once: one per item, its latest.
    package static let mostKept = 10_000

    /// In the order in which they happened; an item's latest change only.
    package var changes: [Change]
    /// The mark to pass next time.
    package var mark: String
    /// Whether the log no longer reaches back to the given mark. Then `changes` is empty, and the caller must list the
    /// items again.
    package var isTooOld: Bool
}
