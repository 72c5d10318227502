import GRDB

extension Library {
    /// Applies the limits: finds the items that must go, deletes them and removes their files.
    ///
    /// Call it every minute or so. One call deletes at most ``RetentionLimits/deletions`` items.
    ///
    /// - Parameter free: The free bytes of the disk.
    /// - Returns: What was removed, and the number of items per reason.
    package func retain(
        _ limits: RetentionLimits,
        free: Int64
    ) throws(LibraryError) -> (removal: Removal, reasons: [RetentionPass.Reason: Int]) {
        let clock = now().clock
        try catalogue.write { try clock.store($0) }
        guard !limits.isEmpty else { return (Removal(), [:]) }
        let found = try catalogue.read { try Self.candidates(limits, now: clock.time, free: free, $0) }
        guard !found.isEmpty else { return (Removal(), [:]) }
        let reasons = found.reduce(into: [:]) { $0[$1.reason, default: 0] += 1 }
        return (try retire(found.map(\.id)), reasons)
    }

    /// Streams the items that may be deleted, the oldest first, through a ``RetentionPass``.
    private static func candidates(
        _ limits: RetentionLimits,
        now: Int64,
        free: Int64,
        _ db: Database
    ) throws -> [(id: Int64, reason: RetentionPass.Reason)] {
        // Deleted items are about to free their bytes.
        let leaving = try Int64.fetchOne(db, sql: "SELECT coalesce(sum(bytes), 0) FROM bin WHERE state <> 3") ?? 0
        var pass = RetentionPass(
            limits,
            now: now,
            free: free + leaving,
            devices: try totals(of: "device", db).mapValues(\.bytes),
            owners: try totals(of: "owner", db).mapValues(\.bytes)
        )
        var found: [(id: Int64, reason: RetentionPass.Reason)] = []
        guard !pass.isDone else { return found }
        let rows = try Row.fetchCursor(db, sql: retentionSQL)
        while !pass.isDone, let row = try rows.next() {
            let item = RetentionPass.Candidate(
                id: try row.integer(0),
                device: try row.text(1),
                owner: try row.optionalText(2),
                bytes: try row.integer(3),
                aged: try row.integer(4),
                state: ItemState(rawValue: try row.integer(5)) ?? .missing
            )
            if let reason = pass.offer(item) { found.append((item.id, reason)) }
        }
        return found
    }

    static let retentionSQL = """
        SELECT item.id, device.name, owner.name, item.bytes, item.aged, item.state FROM item \(ItemRow.joined) \
        WHERE item.pinned = 0 AND item.state <> 0 ORDER BY item.aged, item.id
        """
}
