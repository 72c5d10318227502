import Hummingbird
import HummingbirdCore

extension API {
    /// Refuses a request whose query has other parameters than `names`.
    static func refuseQuery(of request: Request, beside names: [String]) throws(Problem) {
        // Most calls have none.
        guard request.uri.query != nil else { return }
        try query(request, isText: true) { reader in
            for name in names { reader.pass(name) }
            return .some(reader.finish())
        }
    }

    /// What `read` makes of a request's query.
    ///
    /// - Parameter isText: Whether everything is strings.
    static func query<Value>(
        _ request: Request,
        isText: Bool = false,
        _ read: (inout ObjectReader) -> Value?
    ) throws(Problem) -> Value {
        do {
            return try ObjectReader.read(QueryFields.members(of: request.uri.string, isText: isText), read)
        } catch {
            throw Problem(error)
        }
    }
}

/// The fields that a query has: `true`, `false` and numbers are what they look like, all else is strings.
package enum QueryFields {
    /// - Parameter isText: Whether everything is strings.
    package static func members(of uri: String, isText: Bool = false) -> [JSONValue.Member] {
        URI(uri).queryParameters.map { name, value in
            JSONValue.Member(name: String(name), value: isText ? .string(String(value)) : scalar(String(value)))
        }
    }

    private static func scalar(_ text: String) -> JSONValue {
        switch try? JSONValue(parsing: text.utf8) {
        case .bool(let bool): .bool(bool)
        case .integer(let integer): .integer(integer)
        case .number(let number): .number(number)
        default: .string(text)
        }
    }
}
