/// Which items have been added, changed and removed. An item is in one of the sets at most.
package struct ItemCommit: Sendable, Equatable {
    /// The most items that it names.
    package static let most = 100

    package private(set) var added: Set<Int64> = []
    package private(set) var changed: Set<Int64> = []
    package private(set) var removed: Set<Int64> = []
    /// Whether there were more items than it names.
    package private(set) var isCut = false

    package init() {}

    package var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty && !isCut }

    package mutating func add(_ id: Int64) {
        // One that was removed before is the same item again, perhaps with other contents.
        if removed.remove(id) != nil { return change(id) }
        if hasRoom { added.insert(id) }
    }

    package mutating func change(_ id: Int64) {
        if !added.contains(id), hasRoom { changed.insert(id) }
    }

    package mutating func remove(_ id: Int64) {
        changed.remove(id)
        // Nobody has heard of one that was added and removed in between.
        if added.remove(id) == nil, hasRoom { removed.insert(id) }
    }

    /// Adds what a later transaction has done.
    package mutating func formUnion(_ later: ItemCommit) {
        isCut = isCut || later.isCut
        for id in later.removed { remove(id) }
        for id in later.added { add(id) }
        for id in later.changed { change(id) }
    }

    /// Whether another item can be named. Notes if not.
    private var hasRoom: Bool {
        mutating get {
            if added.count &+ changed.count &+ removed.count < Self.most { return true }
            isCut = true
            return false
        }
    }
}
