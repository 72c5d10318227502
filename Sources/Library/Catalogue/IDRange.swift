/// The ids that a query still has to look at, in its order.
struct IDRange: Equatable {
    let order: ItemQuery.Order
    /// The ids between these, without them.
    private(set) var (above, below): (Int64, Int64)

    /// - Throws: ``LibraryError/badCursor(_:)``.
    init(_ query: ItemQuery) throws(LibraryError) {
        order = query.order
        let last = ItemFacts.lastStart << 1
        // An item's id is its start, or a few µs later if that was taken.
        above = max(0, min(query.since ?? 0, last) - 1)
        below = max(0, min(query.until ?? last, last))
        if let cursor = query.cursor { advance(past: try PageCursor(cursor, order: order).id) }
    }

    /// Leaves out the ids up to this one.
    mutating func advance(past id: Int64) {
        switch order {
        case .newestFirst: below = min(below, id)
        case .oldestFirst: above = max(above, id)
        }
    }

    /// Returns whether the query lists `one` before `other`.
    func lists(_ one: Int64, before other: Int64) -> Bool {
        switch order {
        case .newestFirst: one > other
        case .oldestFirst: one < other
        }
    }

    /// The SQL of the order of a column.
    var direction: String {
        switch order {
        case .newestFirst: "DESC"
        case .oldestFirst: "ASC"
        }
    }
}
