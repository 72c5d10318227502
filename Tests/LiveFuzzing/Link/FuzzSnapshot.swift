import Media
import Wire

/// The snapshots with which the fuzzer's agents answer.
enum FuzzSnapshot {
    /// The first bytes of each file, by which viewers recognise it.
    static let magic = Array("FUZZSTILL".utf8)

    /// Returns an answer to a request: usually a file, sometimes a refusal.
    static func answer(to request: SnapshotRequest, by random: inout some RandomNumberGenerator) -> Snapshot {
        if random.chance(0.2) {
            return Snapshot(request: request.id, outcome: .refusal(random.pick(Snapshot.Refusal.allCases)))
        }
        let picture = Snapshot.Picture(
            format: random.chance(0.9) ? request.format : random.pick(SnapshotFormat.allCases),
            captured: random.extreme(),
            orientation: UInt8(random.int(in: 0...3)),
            size: PictureSize(width: random.int(in: 1...65535), height: random.int(in: 1...65535)),
            bytes: magic + random.bytes(random.int(in: 1...300))
        )
        return Snapshot(
            request: random.chance(0.9) ? request.id : UInt32(truncatingIfNeeded: random.extreme()),
            outcome: .picture(picture)
        )
    }
}
