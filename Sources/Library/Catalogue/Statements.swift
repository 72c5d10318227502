extension Library {
    /// The statements that list, filter and stream items, for a look at their query plans.
    package static var statements: [String] {
        let columns = ["device", "session", "recording", "state", "pinned"]
        let sources = columns.map(SearchCondition.Source.item) + [.label, .word, .all]
        let checks =
            columns.map { "item.\($0) = ?" } + [
                SearchCondition.labelCheck, SearchCondition.wordCheck,
                "item.device IN (SELECT value FROM json_each(?))",
            ]
        return ["ASC", "DESC"].flatMap { direction in
            sources.map { $0.sql(direction) } + checks.map { ItemSearch.rowsSQL([$0], direction) }
        } + [retentionSQL, knownSQL, pathsSQL, ItemSearch.devicesSQL]
    }
}
