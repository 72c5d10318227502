/// A place in a list: the last id that the former page has examined. Its text is opaque to callers.
struct PageCursor: Equatable {
    let order: ItemQuery.Order
    let id: Int64

    var text: String { "\(order.rawValue)\(String(id, radix: 36))" }

    init(order: ItemQuery.Order, id: Int64) {
        self.order = order
        self.id = id
    }

    /// - Throws: ``LibraryError/badCursor(_:)`` if the text is not a cursor, or belongs to the other order.
    init(_ text: String, order: ItemQuery.Order) throws(LibraryError) {
        guard text.utf8.count <= 14, text.hasPrefix(order.rawValue),
            let id = Int64(text.dropFirst(), radix: 36), id >= 0, PageCursor(order: order, id: id).text == text
        else { throw .badCursor(text) }
        self.init(order: order, id: id)
    }
}
