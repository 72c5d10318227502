import HeliographAPI

/// The query of a call.
enum Query {
    /// Returns the members of a JSON object as a query with its question mark; empty if there are none.
    static func text(_ object: some Collection<UInt8>) throws(JSONError) -> String {
        guard case .object(let members) = try JSONValue(parsing: object), !members.isEmpty else { return "" }
        return "?" + members.map { "\($0.name)=\(text(of: $0.value).percentEncoded)" }.joined(separator: "&")
    }

    private static func text(of value: JSONValue) -> String {
        if case .string(let string) = value { string } else { value.text }
    }
}
