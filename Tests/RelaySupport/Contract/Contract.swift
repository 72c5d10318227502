import Foundation
package import HeliographAPI
import NIOHTTP1
import Relay
import TestSupport

/// openapi.json, with which answers are compared.
package struct Contract: Sendable {
    package static let current: Contract = {
        let file = Programs.repository.appendingPathComponent("Sources/Relay/HTTP/openapi.json")
        guard let data = try? Data(contentsOf: file), let document = try? JSONValue(parsing: data) else {
            preconditionFailure("Sources/Relay/HTTP/openapi.json cannot be read")
        }
        return Contract(document)
    }()

    package let document: JSONValue
    package let operations: [ContractOperation]

    package init(_ document: JSONValue) {
        self.document = document
        operations = (document["paths"]?.members ?? []).flatMap { path in
            (path.value.members ?? []).filter { $0.name != "parameters" }.map { operation in
                let parameters = [path.value, operation.value].flatMap { $0["parameters"]?.elements ?? [] }
                return ContractOperation(
                    method: operation.name.uppercased(),
                    path: path.name,
                    parameters: parameters.map(document.dereferenced),
                    value: operation.value
                )
            }
        }
    }

    package func schema(_ value: JSONValue) -> JSONSchema { JSONSchema(value, in: document) }

    /// A response of `components/responses`.
    package func response(_ name: String) -> JSONValue {
        document["components"]?["responses"]?[name] ?? .null
    }

    /// Returns an operation's response with this status; `nil` if it has none.
    package func response(_ status: Int, of operation: ContractOperation) -> JSONValue? {
        operation.value["responses"]?["\(status)"].map(document.dereferenced)
    }

    /// Returns the codes of a response's problem; none if it has no problem.
    package func codes(of response: JSONValue) -> [String] {
        let schema = response["content"]?["application/problem+json"]?["schema"]
        return schema?["properties"]?["code"]?["enum"]?.elements?.compactMap(\.string) ?? []
    }

    /// Returns the operation that a call addresses, if any. A path without parameters takes precedence.
    package func operation(_ method: String, _ target: String) -> ContractOperation? {
        operations(at: target).first { $0.method == (method == "HEAD" ? "GET" : method) }
    }

    private func operations(at target: String) -> [ContractOperation] {
        let path = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let literal = operations.filter { $0.path == path }
        return literal.isEmpty ? operations.filter { $0.matches(path) } : literal
    }

    /// Returns how an answer differs from the contract.
    ///
    /// - Parameter throughTunnel: Whether the call came through the tunnel, where every call may need a key.
    package func faults(
        of answer: RunningRelay.Answer,
        to method: String,
        _ target: String,
        throughTunnel: Bool = false
    ) -> [String] {
        let (target, linkProblem) = Self.callAtLink(target, answer)
        let named = throughTunnel && answer.status == 401 ? response("NoKey") : linkProblem.map { self.response($0) }
        guard let response = named ?? response(answer.status, method, target) else {
            return ["has status \(answer.status)"]
        }
        return headerFaults(answer.headers, by: response) + bodyFaults(answer, by: response, isHead: method == "HEAD")
    }

    /// Returns the path of a call without its signed link, and the name of the answer's response if the link has a
    /// problem.
    private static func callAtLink(_ target: String, _ answer: RunningRelay.Answer) -> (String, String?) {
        guard let (_, path) = SignedPath.split(target) else { return (target, nil) }
        return (path, ["bad_link": "BadLink", "forbidden_link": "ForbiddenLink"][answer.code ?? ""])
    }

    private func response(_ status: Int, _ method: String, _ target: String) -> JSONValue? {
        if let operation = operation(method, target) { return response(status, of: operation) }
        switch status {
        // Checked before the path.
        case 403: return response("OtherSite")
        case 404 where operations(at: target).isEmpty: return response("UnknownRoute")
        case 405 where !operations(at: target).isEmpty: return response("MethodNotAllowed")
        default: return nil
        }
    }

    private func headerFaults(_ headers: HTTPHeaders, by response: JSONValue) -> [String] {
        (response["headers"]?.members ?? []).flatMap { member in
            let header = document.dereferenced(member.value)
            guard let text = headers.first(name: member.name) else {
                return header["required"] == true ? ["has no \(member.name)"] : []
            }
            // A number or, as most are, a string.
            let number = try? JSONValue(parsing: text.utf8)
            let values = [.string(text), number].compactMap(\.self)
            let faults = values.map { schema(header["schema"] ?? .null).faults(of: $0) }
            return faults.contains([]) ? [] : faults[0].map { "\(member.name)\($0)" }
        }
    }

    private func bodyFaults(_ answer: RunningRelay.Answer, by response: JSONValue, isHead: Bool) -> [String] {
        guard response["content"]?.members?.isEmpty == false else { return answer.body.isEmpty ? [] : ["has a body"] }
        let field = answer.headers.first(name: "Content-Type") ?? ""
        let type = String(field.prefix { $0 != ";" })
        guard let media = response["content"]?[type] else { return ["is of type \(type)"] }
        guard !isHead else { return answer.body.isEmpty ? [] : ["has a body"] }
        guard type.hasSuffix("json") else { return [] }
        guard let body = try? JSONValue(parsing: answer.body) else { return ["is not JSON"] }
        let isProblem = type == "application/problem+json"
        let otherStatus = isProblem && body["status"] != .integer(answer.status)
        return (otherStatus ? ["says another status"] : []) + schema(media["schema"] ?? .null).faults(of: body)
    }
}

/// A method of a path.
package struct ContractOperation: Sendable {
    package let method: String
    package let path: String
    /// Those of its path too.
    package let parameters: [JSONValue]
    package let value: JSONValue

    /// `GET /screencapture/{id}`.
    package var name: String { "\(method) \(path)" }

    fileprivate func matches(_ target: some StringProtocol) -> Bool {
        let template = path.split(separator: "/", omittingEmptySubsequences: false)
        let parts = target.split(separator: "/", omittingEmptySubsequences: false)
        return template.count == parts.count
            && zip(template, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") && !$1.isEmpty }
    }
}

/// An answer that differs from the contract.
package struct ContractFault: Error, CustomStringConvertible {
    package let description: String
}

extension JSONValue {
    /// Returns what `value` refers to, or `value` itself if it is not a reference.
    package func dereferenced(_ value: JSONValue) -> JSONValue {
        guard let reference = value["$ref"]?.string else { return value }
        return resolved(reference) ?? .null
    }
}
