/// One file of the library.
package struct Item: Sendable, Equatable, Identifiable {
    /// The id, in the order of time: the start in µs since 1970, or the next free number. At most 2⁵³.
    package let id: Int64
    /// The path relative to the library's folder, such as `recordings/phone-1/2026-01-31/0123abcd-0.mp4`.
    package let path: String
    package var facts: ItemFacts
    package var state: ItemState
    /// Whether retention leaves it alone.
    package var isPinned: Bool
    /// When the catalogue learned of it: UTC, in µs since 1970.
    package let added: Int64
    /// When the catalogue learned of it, in µs of the library's own clock (``LibraryClock``).
    package let aged: Int64
    package var hasThumbnail: Bool
    package var hasStoryboard: Bool
}

/// What is known about an item's file.
package enum ItemState: Int64, Sendable, CaseIterable {
    /// A recorder is writing it.
    case recording = 0
    /// It was finalised.
    case complete = 1
    /// Its recorder ended before the file was finalised. It can be played up to its last fragment.
    case interrupted = 2
    /// The file is gone.
    case missing = 3

    /// The name in the API: `recording`, `complete`, `interrupted` or `missing`.
    package var name: String {
        switch self {
        case .recording: "recording"
        case .complete: "complete"
        case .interrupted: "interrupted"
        case .missing: "missing"
        }
    }

    /// The state of a file that nobody writes.
    init(of facts: ItemFacts) { self = facts.isComplete ? .complete : .interrupted }

    package init?(name: String) {
        guard let state = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = state
    }
}

/// How far a recording item has come.
package struct ItemProgress: Sendable, Equatable {
    package var id: Int64
    /// In µs.
    package var duration: Int64
    /// The file's size.
    package var bytes: Int64
    /// The number of keyframes.
    package var keyframes: Int64
    /// All gaps so far; `nil` if they have not changed.
    package var gaps: [ItemFacts.Gap]?

    package init(id: Int64, duration: Int64, bytes: Int64, keyframes: Int64, gaps: [ItemFacts.Gap]? = nil) {
        self.id = id
        self.duration = duration
        self.bytes = bytes
        self.keyframes = keyframes
        self.gaps = gaps
    }
}

/// The number of items and the bytes of their files. Missing files have no bytes.
package struct LibraryTotals: Sendable, Equatable {
    package var items: Int64
    package var bytes: Int64

    package init(items: Int64 = 0, bytes: Int64 = 0) {
        self.items = items
        self.bytes = bytes
    }

    package static func + (one: Self, other: Self) -> Self {
        LibraryTotals(items: one.items &+ other.items, bytes: one.bytes &+ other.bytes)
    }
}
