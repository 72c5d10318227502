import FoundationEssentials
import HeliographAPI

/// The arguments of a call, as a request has them.
enum Query {
    /// Returns arguments as a query with its question mark; empty if there are none.
    static func text(_ arguments: some Encodable) throws(RelayError) -> String {
        guard case .object(let members)? = try? JSONValue(parsing: json(arguments)), !members.isEmpty else { return "" }
        return "?" + members.map { "\($0.name)=\(text(of: $0.value).percentEncoded)" }.joined(separator: "&")
    }

    /// Returns arguments as JSON.
    static func json(_ arguments: some Encodable) throws(RelayError) -> [UInt8] {
        do {
            return [UInt8](try JSONEncoder().encode(arguments))
        } catch {
            throw RelayError(.badArgument, "an argument is not a finite number")
        }
    }

    private static func text(of value: JSONValue) -> String {
        if case .string(let string) = value { string } else { value.text }
    }
}
