/// What is wrong with one field that someone wrote: in a request's body, in the configuration file, or as a flag.
package struct FieldIssue: Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        case missing, unknown, wrongType, outOfRange, unknownValue
    }

    package let kind: Kind
    /// The field's name behind those of the objects that it stands in.
    package let path: [String]
    /// What is said of the field, and what is allowed: the rest of a sentence that begins with its name.
    package let statement: String

    /// The field's name as people write it, such as `source.kind`.
    package var name: String { path.joined(separator: ".") }

    package var description: String { "\(name) \(statement)" }
}

/// All that is wrong with an object.
package struct FieldIssues: Error, Sendable, Equatable {
    /// In the order in which they were found; never empty.
    package let all: [FieldIssue]
}
