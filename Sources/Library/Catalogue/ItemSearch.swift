import GRDB
import Program

/// Finds the items of a query, page by page.
///
/// Every condition has an index that lists its ids in the order of time. The search reads the next ids of each list.
/// The sparsest list, which reaches furthest, leads: the rows of its ids are checked for the other conditions. So a
/// rare value leads a frequent one. A page examines at most ``mostExamined`` ids, and says how far it has come. So two
/// frequent values that never meet cost as little as any other query.
struct ItemSearch {
    /// The most ids that lead, and whose rows a page checks.
    static let mostExamined = 750
    /// The most ids that a page reads from lists.
    private static let mostRead = 8000
    /// The most devices or states with a list each. Beyond, rows are checked.
    private static let mostLists = 64

    private let query: ItemQuery
    private var conditions: [SearchCondition] = []
    /// Whether no item can match.
    private var isEmpty = false

    init(_ query: ItemQuery, scope: DeviceScope, _ db: Database) throws {
        guard 1...ItemQuery.mostItems ~= query.limit else { throw LibraryError.badLimit(query.limit) }
        self.query = query
        try addDevices(scope, db)
        if let session = query.session { add("session", Int64(session)) }
        if let recording = query.recording { add("recording", recording) }
        // No item has more labels.
        guard query.labels.count <= ItemFacts.mostLabels else {
            isEmpty = true
            return
        }
        for (name, value) in query.labels.sorted(by: { $0.key < $1.key }) {
            guard let label = try ItemLabels.number(name, value, db) else {
                isEmpty = true
                return
            }
            conditions.append(
                SearchCondition(
                    source: .label,
                    values: [label],
                    check: SearchCondition.labelCheck,
                    checked: [label]
                )
            )
        }
        addStates()
        for word in SearchWords.query(query.text ?? "") {
            let isWhole = word.unicodeScalars.count >= SearchWords.longest
            conditions.append(
                SearchCondition(
                    source: .word,
                    values: [isWhole ? "\"\(word)\"" : "\"\(word)\" *"],
                    check: SearchCondition.wordCheck,
                    checked: [" " + word]
                )
            )
        }
        if conditions.allSatisfy({ $0.source == nil }) { conditions.append(.all) }
    }

    private mutating func add(_ column: String, _ value: any DatabaseValueConvertible) {
        conditions.append(
            SearchCondition(
                source: .item(column: column),
                values: [value],
                check: "item.\(column) = ?",
                checked: [value]
            )
        )
    }

    private mutating func addDevices(_ scope: DeviceScope, _ db: Database) throws {
        var names = query.devices
        if case .only(let allowed) = scope { names = names?.intersection(allowed) ?? allowed }
        guard let names else { return }
        // Names of devices need no escapes in JSON.
        let list = "[" + names.filter(\.isName).map { "\"\($0)\"" }.joined(separator: ",") + "]"
        let rows = try Row.fetchCursor(db.cachedStatement(sql: Self.devicesSQL), arguments: [list])
        var (devices, items): ([Int64], Int64) = ([], 0)
        while let row = try rows.next() {
            devices.append(try row.integer(0))
            items &+= try row.integer(1)
        }
        isEmpty = devices.isEmpty
        guard devices.count != 1 else { return add("device", devices[0]) }
        let all = try Int64.fetchOne(db, sql: "SELECT sum(items) FROM device") ?? 0
        // If most items match, a list of all items is as good as many lists.
        let isBroad = devices.count > Self.mostLists || items > all / 4
        conditions.append(
            SearchCondition(
                source: isBroad ? nil : .item(column: "device"),
                values: devices,
                check: "item.device IN (SELECT value FROM json_each(?))",
                checked: [Self.json(devices)]
            )
        )
    }

    static let devicesSQL = "SELECT id, items FROM device WHERE name IN (SELECT value FROM json_each(?))"

    private mutating func addStates() {
        if let states = query.states, states.count < ItemState.allCases.count {
            isEmpty = isEmpty || states.isEmpty
            let values = states.map(\.rawValue).sorted()
            conditions.append(
                SearchCondition(
                    source: .item(column: "state"),
                    values: values,
                    check: "item.state IN (SELECT value FROM json_each(?))",
                    checked: [Self.json(values)]
                )
            )
        }
        switch query.isPinned {
        case true?: add("pinned", Int64(1))
        case false?: conditions.append(SearchCondition(check: "item.pinned = 0"))
        case nil: break
        }
    }

    /// Returns the next page.
    ///
    /// - Throws: ``LibraryError/badCursor(_:)``, and errors of the database.
    func page(_ db: Database) throws -> ItemPage {
        var range = try IDRange(query)
        var page = ItemPage(items: [])
        guard !isEmpty else { return page }
        var (examined, read) = (0, 0)
        // A page often needs few ids.
        var size = conditions.count == 1 ? query.limit + 1 : min(2 * query.limit, Self.mostExamined)
        while true {
            let probes = try conditions.compactMap { try $0.probe(range, size: size, db) }
            guard let leader = probes.min(by: { $0.isSparser(than: $1, range) }) else { return page }
            var candidates = leader.ids
            for probe in probes where probe != leader { candidates = probe.filter(candidates, range) }
            page.items += try items(candidates, atMost: query.limit + 1 - page.items.count, db)
            if page.items.count > query.limit {
                page.items.removeLast()
                return ended(page, at: page.items.last?.id)
            }
            guard let reached = leader.reached else { return page }
            range.advance(past: reached)
            examined += leader.ids.count
            // A list of another value costs as much as reading several ids.
            read += probes.reduce(0) { $0 + $1.ids.count } + 20 * conditions.reduce(0) { $0 + $1.values.count }
            size = min(Self.mostExamined - examined, 4 * size)
            guard size > 0, read < Self.mostRead else { return ended(page, at: reached) }
        }
    }

    private func ended(_ page: ItemPage, at id: Int64?) -> ItemPage {
        var page = page
        page.next = id.map { PageCursor(order: query.order, id: $0).text }
        page.reached = id
        return page
    }

    /// Returns the first of the candidates that meet all conditions.
    private func items(_ candidates: [Int64], atMost most: Int, _ db: Database) throws -> [Item] {
        guard !candidates.isEmpty else { return [] }
        let checks = conditions.filter { !$0.check.isEmpty }
        var arguments: [any DatabaseValueConvertible] = [Self.json(candidates)]
        arguments += checks.flatMap(\.checked)
        arguments.append(most)
        let sql = Self.rowsSQL(checks.map(\.check), try IDRange(query).direction)
        // Connections keep prepared statements forever, so only common ones may be kept.
        let statement = try checks.count <= 3 ? db.cachedStatement(sql: sql) : db.makeStatement(sql: sql)
        let rows = try Row.fetchCursor(statement, arguments: StatementArguments(arguments))
        var items: [Item] = []
        while let row = try rows.next() { items.append(try ItemRow.item(row)) }
        return items
    }

    static func rowsSQL(_ checks: [String], _ direction: String) -> String {
        """
        SELECT \(ItemRow.selected) FROM item \(ItemRow.joined) \
        WHERE item.id IN (SELECT value FROM json_each(?))\(checks.map { " AND " + $0 }.joined()) \
        ORDER BY item.id \(direction) LIMIT ?
        """
    }

    private static func json(_ numbers: [Int64]) -> String {
        "[" + numbers.map { String($0) }.joined(separator: ",") + "]"
    }
}
