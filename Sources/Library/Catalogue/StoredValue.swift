import GRDB

/// Reads of columns that do not trap if a damaged file contains something else.
extension Row {
    func integer(_ column: Int) throws(LibraryError) -> Int64 {
        guard let value = try optionalInteger(column) else { throw .unreadable(column) }
        return value
    }

    func optionalInteger(_ column: Int) throws(LibraryError) -> Int64? {
        let value: DatabaseValue = self[column]
        switch value.storage {
        case .int64(let number): return number
        case .null: return nil
        default: throw .unreadable(column)
        }
    }

    func number(_ column: Int) throws(LibraryError) -> Double {
        let value: DatabaseValue = self[column]
        switch value.storage {
        case .double(let number): return number
        case .int64(let number): return Double(number)
        default: throw .unreadable(column)
        }
    }

    func text(_ column: Int) throws(LibraryError) -> String {
        guard let value = try optionalText(column) else { throw .unreadable(column) }
        return value
    }

    func optionalText(_ column: Int) throws(LibraryError) -> String? {
        let value: DatabaseValue = self[column]
        switch value.storage {
        case .string(let text): return text
        case .null: return nil
        default: throw .unreadable(column)
        }
    }
}

extension LibraryError {
    fileprivate static func unreadable(_ column: Int) -> LibraryError {
        .damaged(Catalogue.fileName, reason: "column \(column) has an unexpected type")
    }
}
