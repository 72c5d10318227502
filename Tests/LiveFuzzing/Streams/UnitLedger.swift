import Media
import Wire

/// The access units that the fuzzer's agents have sent, by their numbers.
final class UnitLedger {
    /// One that was sent.
    struct Entry {
        let number: UInt64
        let session: SessionID
        /// By ``UnitLedger/nextLink()``.
        let link: Int
        /// Whether it was sent as a keyframe.
        let isKey: Bool
        /// The one that the same link sent for this session before.
        let predecessor: UInt64?
        let content: MadeUnit
    }

    private var entries: [UInt64: Entry] = [:]
    private var last: UInt64 = 0
    private var links = 0
    /// Sessions whose pictures the relay may have made itself, because an agent has handed the repeats over.
    private(set) var rested: Set<SessionID> = []

    /// The number of the next access unit.
    func next() -> UInt64 {
        last += 1
        return last
    }

    /// A number for another link.
    func nextLink() -> Int {
        links += 1
        return links
    }

    /// The last number that was given out.
    var newest: UInt64 { last }

    func add(_ entry: Entry) { entries[entry.number] = entry }

    func rest(_ session: SessionID) { rested.insert(session) }

    subscript(_ number: UInt64) -> Entry? { entries[number] }

    /// Forgets the units up to a number.
    func forget(upTo number: UInt64, of session: SessionID) {
        entries = entries.filter { $0.key > number || $0.value.session != session }
    }
}
