/// Which items to list. All conditions must hold.
package struct ItemQuery: Sendable, Equatable {
    /// Both orders follow the item's start.
    package enum Order: String, Sendable {
        case newestFirst = "d"
        case oldestFirst = "a"
    }

    /// The highest ``limit``.
    package static let mostItems = 1000

    /// Any of these devices; `nil` for all.
    package var devices: Set<String>?
    package var session: UInt32?
    /// The id of a recording.
    package var recording: String?
    /// Labels that an item must have, with these values.
    package var labels: [String: String] = [:]
    /// Any of these states; `nil` for all.
    package var states: Set<ItemState>?
    /// Only items that start at or after this time, in µs since 1970.
    package var since: Int64?
    /// Only items that start before this time, in µs since 1970.
    package var until: Int64?
    package var isPinned: Bool?
    /// Words that an item's device, session name or labels must contain. Each one may be the beginning of a word.
    /// ``SearchWords`` has the rules.
    package var text: String?
    package var order = Order.newestFirst
    /// The `next` of the page before; `nil` for the first page.
    package var cursor: String?
    /// The most items of a page: 1 to ``mostItems``.
    package var limit = 100

    package init() {}
}

/// The devices that a caller may see. A query cannot leave them.
package enum DeviceScope: Sendable, Hashable {
    case all
    case only(Set<String>)

    package func contains(_ device: String) -> Bool {
        switch self {
        case .all: true
        case .only(let devices): devices.contains(device)
        }
    }
}

/// A part of a list.
package struct ItemPage: Sendable, Equatable {
    package var items: [Item]
    /// The cursor of the next page; `nil` at the end.
    ///
    /// A page may be short or even empty although there is a next one: each call examines a bounded number of items.
    package var next: String?
    /// How far the search has come: all matching items up to this start (µs since 1970) are listed. `nil` at the end.
    package var reached: Int64?
}
