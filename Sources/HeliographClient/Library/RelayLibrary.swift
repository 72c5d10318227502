public import FoundationEssentials
import HeliographAPI

/// The library of a relay: its recordings, and the music and movies that were put into it.
///
///     for try await item in relay.library.items() { print(item.id, item.start, item.duration) }
///
/// Its calls throw ``RelayError`` with the code `library_unavailable` if the relay has none, or cannot use it.
public struct RelayLibrary: Sendable {
    let relay: RelayClient

    /// Which items are meant: those for which all conditions hold. `nil` leaves a condition out.
    public struct Search: Sendable {
        public enum Order: Sendable {
            case newest, oldest
        }

        public var device: String?
        /// The recording whose files are meant; see ``RecordingState/id``.
        public var recording: String?
        public var label: (name: String, value: String)?
        /// The item began then, or later.
        public var since: Date?
        /// The item began before.
        public var until: Date?
        public var isPinned: Bool?
        /// Words that the device, the session's name and the labels contain, all of them. Beginnings are enough.
        public var text: String?
        /// By when the items began.
        public var order = Order.newest

        public init() {}

        fileprivate var query: LibraryQuery {
            var query = LibraryQuery()
            (query.device, query.recording, query.text) = (device, recording, text)
            query.label = label.map { "\($0.name)=\($0.value)" }
            (query.since, query.until) = (since?.apiText, until?.apiText)
            query.pinned = isPinned
            query.order = order == .newest ? .newest : .oldest
            return query
        }
    }

    /// The items of a ``Search``. The relay is asked page after page, as they are taken.
    public struct Items: AsyncSequence, Sendable {
        public typealias Element = Item
        public typealias Failure = RelayError

        fileprivate let library: RelayLibrary
        fileprivate let search: Search

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(library: library, query: search.query) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let library: RelayLibrary
            /// The query of the next page; `nil` after the last one.
            fileprivate var query: LibraryQuery?
            fileprivate var page: ArraySlice<LibraryItem> = []

            fileprivate init(library: RelayLibrary, query: LibraryQuery) {
                (self.library, self.query) = (library, query)
            }

            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(RelayError) -> Item? {
                // A page may be empty although there is a next one.
                while page.isEmpty, var query {
                    let answer = try await library.relay.report(of: Routes.listLibrary, query)
                    page = answer.items[...]
                    query.cursor = answer.next
                    self.query = answer.next == nil ? nil : query
                }
                return page.popFirst().map { Item($0, of: library) }
            }

            public mutating func next() async throws(RelayError) -> Item? {
                try await next(isolation: #isolation)
            }
        }
    }

    public func items(_ search: Search = Search()) -> Items { Items(library: self, search: search) }

    /// Returns an item.
    ///
    /// - Throws: ``RelayError``: its code is `unknown_item` if there is none.
    public func item(_ id: Int) async throws(RelayError) -> Item {
        Item(try await relay.report(of: Routes.getLibraryItem, at: .item("\(id)")), of: self)
    }
}

extension RelayClient {
    /// The relay's library. The relay is not asked.
    public var library: RelayLibrary { RelayLibrary(relay: self) }
}
