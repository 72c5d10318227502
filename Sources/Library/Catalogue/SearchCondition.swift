import GRDB

/// One condition of a query, in two forms: lists of ids that an index has in order, and a check of a row.
struct SearchCondition {
    /// An index that has the ids of a value in order.
    enum Source {
        case item(column: String)
        case label
        case word
        /// All items.
        case all

        /// The query for the next ids: the value, the range's ends, and the most ids.
        func sql(_ direction: String) -> String {
            switch self {
            case .item(let column):
                """
                SELECT id FROM item WHERE \(column) = ? AND id > ? AND id < ? ORDER BY id \(direction) LIMIT ?
                """
            case .label:
                """
                SELECT item FROM itemLabel WHERE label = ? AND item > ? AND item < ? ORDER BY item \(direction) LIMIT ?
                """
            case .word:
                """
                SELECT rowid FROM search WHERE search MATCH ? AND rowid > ? AND rowid < ? \
                ORDER BY rowid \(direction) LIMIT ?
                """
            case .all: "SELECT id FROM item WHERE ? AND id > ? AND id < ? ORDER BY id \(direction) LIMIT ?"
            }
        }
    }

    static let labelCheck = "EXISTS (SELECT 1 FROM itemLabel WHERE label = ? AND itemLabel.item = item.id)"
    static let wordCheck = "instr(item.words, ?) > 0"

    /// Where to look for ids; `nil` if the condition can only be checked.
    var source: Source?
    /// The values, any of which an item may have: one list of ids for each.
    var values: [any DatabaseValueConvertible] = []
    /// The SQL that checks a row of `item`; empty if there is nothing to check.
    var check = ""
    var checked: [any DatabaseValueConvertible] = []

    /// All items, for queries without a list.
    static var all: SearchCondition { SearchCondition(source: .all, values: [Int64(1)]) }

    /// Reads the next ids of the condition.
    ///
    /// - Parameter size: About how many to read.
    func probe(_ range: IDRange, size: Int, _ db: Database) throws -> SearchProbe? {
        guard let source else { return nil }
        let each = values.count > 1 ? max(16, size / values.count) : size
        let statement = try db.cachedStatement(sql: source.sql(range.direction))
        var probe = SearchProbe()
        for value in values {
            let ids = try Int64.fetchAll(statement, arguments: [value, range.above, range.below, each])
            probe.add(ids, isFull: ids.count == each, range)
        }
        if values.count > 1 { probe.sort(range) }
        return probe
    }
}

/// The next ids of a condition, in the query's order.
struct SearchProbe: Equatable {
    private(set) var ids: [Int64] = []
    /// The id up to which ``ids`` is complete; `nil` if it is complete up to the end.
    private(set) var reached: Int64?

    /// Adds the ids of one value.
    ///
    /// - Parameter isFull: Whether there may be more.
    mutating func add(_ more: [Int64], isFull: Bool, _ range: IDRange) {
        ids += more
        guard isFull, let last = more.last else { return }
        if let reached, range.lists(reached, before: last) { return }
        reached = last
    }

    /// Puts the ids of several values in order, and drops those that are not complete.
    mutating func sort(_ range: IDRange) {
        if let reached { ids.removeAll { range.lists(reached, before: $0) } }
        ids.sort { range.lists($0, before: $1) }
    }

    /// Returns whether it is shorter for the same range than another.
    func isSparser(than other: SearchProbe, _ range: IDRange) -> Bool {
        switch (reached, other.reached) {
        case (nil, nil): ids.count < other.ids.count
        case (nil, _): true
        case (_, nil): false
        case (let reached?, let far?): range.lists(far, before: reached)
        }
    }

    /// Keeps of `candidates` what it does not exclude.
    func filter(_ candidates: [Int64], _ range: IDRange) -> [Int64] {
        let known = Set(ids)
        return candidates.filter { candidate in
            if known.contains(candidate) { return true }
            guard let reached else { return false }
            return range.lists(reached, before: candidate)
        }
    }
}
