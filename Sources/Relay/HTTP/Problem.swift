import HTTPTypes
package import HeliographAPI

/// An error of the API: `application/problem+json` with a stable code.
package struct Problem: Error, Sendable, Equatable {
    package typealias Code = ProblemCode

    package var code: Code
    /// What is wrong with this request and what to do, for people.
    package var detail: String
    /// The argument that is wrong, if any.
    package var field: String?
    /// Members besides the standard ones.
    package var extra: [JSONValue.Member] = []
    var headers: HTTPFields = [:]
    /// The answer's status: the code's, unless HTTP requires another.
    package var status: Int

    package init(_ code: Code, _ detail: String, field: String? = nil) {
        self.code = code
        status = code.status
        self.detail = detail
        self.field = field
    }

    /// The answer's body.
    package var body: JSONValue {
        var members: [JSONValue.Member] = [
            .init(name: "title", value: .string(code.title)),
            .init(name: "status", value: .integer(status)),
            .init(name: "code", value: .string(code.rawValue)),
            .init(name: "detail", value: .string(detail)),
        ]
        if let field { members.append(.init(name: "field", value: .string(field))) }
        return .object(members + extra)
    }
}
