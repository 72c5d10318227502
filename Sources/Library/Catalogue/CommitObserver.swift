import GRDB

/// Tells which items each transaction of the catalogue has added, changed and removed.
///
/// SQLite calls it on the thread that writes, so one transaction at a time.
final class CommitObserver: TransactionObserver {
    private let tell: @Sendable (ItemCommit) -> Void
    private var commit = ItemCommit()

    init(_ tell: @escaping @Sendable (ItemCommit) -> Void) { self.tell = tell }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { kind.tableName == "item" }

    func databaseDidChange(with event: DatabaseEvent) {
        switch event.kind {
        case .insert: commit.add(event.rowID)
        case .update: commit.change(event.rowID)
        case .delete: commit.remove(event.rowID)
        }
    }

    func databaseDidCommit(_ db: Database) {
        if !commit.isEmpty { tell(commit) }
        commit = ItemCommit()
    }

    func databaseDidRollback(_ db: Database) { commit = ItemCommit() }
}
