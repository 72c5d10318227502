import Foundation
import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

/// Arguments of calls are tried beside one that no call knows, so that nothing comes of them: arguments that are right get that one refused.
@Suite("The contract's arguments", .serialized)
struct ContractArgumentsTests {
    private static let contract = Contract.current
    private static let unknown = "nonsense"

    /// Values of a schema: such that are just taken, and such that are not.
    private struct Probes {
        var right: [JSONValue] = []
        var wrong: [JSONValue] = []

        init(_ schema: JSONValue) {
            var schema = contract.document.dereferenced(schema)
            wrong = [[], [:]]
            if let choice = schema["oneOf"]?.elements {
                // The other one is null.
                schema = contract.document.dereferenced(choice[0])
                right = [.null]
            } else {
                wrong.append(.null)
            }
            if let words = schema["enum"]?.elements ?? schema["const"].map({ [$0] }) {
                right += words
                wrong += ["nonsense", "", 1]
            } else {
                switch schema["type"]?.string {
                case "boolean":
                    right += [true, false]
                    wrong += ["true", 1]
                case "string": addStrings(schema)
                default: addNumbers(schema)
                }
            }
        }

        private mutating func addStrings(_ schema: JSONValue) {
            let (least, most) = (schema["minLength"]?.number ?? 0, schema["maxLength"]?.number ?? 200)
            // Two code points that are one character to the eye.
            let letter = schema["pattern"]?.string?.hasPrefix("^[A") == true ? "x" : "e\u{301}"
            func text(_ count: Double) -> String {
                String(
                    String.UnicodeScalarView(
                        String(repeating: letter, count: Int(count)).unicodeScalars.prefix(Int(count))
                    )
                )
            }
            right += [.string(text(least)), .string(text(most))]
            wrong += [.string(text(most + 1)), .string("a\0"), 1, true]
            if least > 0 { wrong.append(.string(text(least - 1))) }
        }

        private mutating func addNumbers(_ schema: JSONValue) {
            let isWhole = schema["type"] == "integer"
            wrong += ["1", true] + (isWhole ? [.number(20.5)] : [])
            for range in schema["anyOf"]?.elements ?? [schema] {
                let only = range["const"]
                guard let least = only ?? range["minimum"], let most = only ?? range["maximum"] else { continue }
                right += [least, most]
                guard case .integer(let low) = least, case .integer(let high) = most else {
                    wrong += [.number((least.number ?? 0) - 0.01), .number((most.number ?? 0) + 0.01)]
                    continue
                }
                wrong.append(.integer(low - 1))
                if only == nil, high < .max { wrong.append(.integer(high + 1)) }
            }
        }
    }

    /// What of a call's arguments is refused first, and all that it takes where an unknown one is.
    private struct Refusal {
        let field: String?
        let code: String?
        let known: Set<String>

        init(_ answer: RunningRelay.Answer) {
            field = answer.json["field"]?.string
            code = answer.code
            let listed = answer.json["detail"]?.string?.split(separator: "there is: ").dropFirst().first
            known = Set(listed?.split(separator: ", ").map(String.init) ?? [])
        }

        /// Whether all but the unknown one were taken.
        func isOfUnknown(at place: String = "") -> Bool { code == "unknown_field" && field == place + unknown }
    }

    /// Where a call goes, of a session of its codec or of the only device.
    private static func path(_ operation: ContractOperation) -> String {
        operation.path
            .replacing("{id}", with: operation.path.hasSuffix(".h265") ? "2" : "1")
            .replacing("{device}", with: "default")
    }

    @Test("in bodies are those that the calls take, with their ranges")
    func bodies() async throws {
        try await RunningRelay.run { relay in
            let bodies = Self.contract.operations.filter { $0.value["requestBody"] != nil }
            #expect(bodies.count == 20)
            for operation in bodies {
                let schema = operation.value["requestBody"]?["content"]?["application/json"]?["schema"] ?? .null
                try await Self.check(Self.contract.document.dereferenced(schema), of: operation.name) { body in
                    let method = HTTPMethod(rawValue: operation.method)
                    let answer = try await relay.call(method, Self.path(operation), body: Array(body.text.utf8))
                    return Refusal(answer)
                }
            }
        }
    }

    /// Tries all fields of an object.
    ///
    /// - Parameters:
    ///   - alternatives: What the object may be instead.
    ///   - place: What its fields' names begin with.
    private static func check(
        _ schema: JSONValue,
        of name: String,
        among alternatives: [JSONValue] = [],
        at place: String = "",
        send: (JSONValue) async throws -> Refusal
    ) async throws {
        typealias Member = JSONValue.Member
        func names(_ schema: JSONValue) -> Set<String> { Set((schema["properties"]?.members ?? []).map(\.name)) }
        func call(_ members: [Member]) async throws -> Refusal {
            try await send(.object(members + [Member(name: unknown, value: true)]))
        }
        let required = (schema["required"]?.elements ?? []).compactMap(\.string).map { name in
            Member(name: name, value: Probes(schema["properties"]?[name] ?? .null).right[0])
        }
        let known = try await call(required)
        #expect(known.isOfUnknown(at: place), "\(name)")
        #expect(names(schema).isSubset(of: known.known), "\(name)")
        #expect(known.known.isSubset(of: alternatives.reduce(names(schema)) { $0.union(names($1)) }), "\(name)")
        for member in required {
            let others = required.filter { $0 != member }
            guard !alternatives.contains(where: { contract.schema($0).faults(of: .object(others)).isEmpty }) else {
                continue
            }
            let refusal = try await call(others)
            #expect(refusal.field == place + member.name && refusal.code == "missing_field", "\(name) \(member.name)")
        }
        for property in schema["properties"]?.members ?? [] {
            let kinds = contract.document.dereferenced(property.value)["oneOf"]?.elements ?? []
            guard kinds.first?["properties"] == nil else {
                try await checkKinds(kinds, of: name, at: "\(place)\(property.name).") { value in
                    try await send([property.name: value])
                }
                continue
            }
            let needed = schema["dependentRequired"]?[property.name]?.elements ?? []
            let beside = needed.compactMap(\.string).map { Member(name: $0, value: 64) }
            let others = required.filter { $0.name != property.name } + beside
            let probes = Probes(property.value)
            for (value, isRight) in probes.right.map({ ($0, true) }) + probes.wrong.map({ ($0, false) }) {
                let refusal = try await call(others + [Member(name: property.name, value: value)])
                let isAsSaid = isRight ? refusal.isOfUnknown(at: place) : refusal.field == place + property.name
                #expect(isAsSaid, "\(name) \(property.name): \(value.text)")
            }
        }
    }

    /// Tries objects that are told apart by their `kind`.
    private static func checkKinds(
        _ kinds: [JSONValue],
        of name: String,
        at place: String,
        send: (JSONValue) async throws -> Refusal
    ) async throws {
        func kind(_ schema: JSONValue) -> String? { schema["properties"]?["kind"]?["const"]?.string }
        #expect(Set(kinds.map(kind)) == Set(SourceKind.allCases.map(\.rawValue)))
        for schema in kinds {
            let alternatives = kinds.filter { kind($0) == kind(schema) }
            let name = "\(name) \(kind(schema) ?? "")"
            try await check(schema, of: name, among: alternatives, at: place, send: send)
        }
    }

    @Test("in queries are those that the calls take, with their ranges")
    func queries() async throws {
        try await RunningRelay.run { relay in
            // No fewer than the contract allows its MJPEG stream.
            _ = try await relay.startSession(["fps": 240])
            _ = try await relay.startSession(["codec": "h265"])
            for operation in Self.contract.operations {
                let parameters = operation.parameters.filter { $0["in"] == "query" }
                let refused = Self.contract.response(400, of: operation).map(Self.contract.codes) ?? []
                if refused.contains("unknown_field") {
                    try await Self.checkStrict(parameters, of: operation, relay)
                } else {
                    try await Self.checkLenient(parameters, of: operation, relay)
                }
            }
        }
    }

    /// The value as it stands in a query.
    private static func text(_ value: JSONValue) -> String {
        (value.string ?? value.text).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// What are no values of a parameter. A query tells numbers and words by their looks.
    private static func wrong(_ parameter: JSONValue) -> [String] {
        let schema = contract.document.dereferenced(parameter["schema"] ?? .null)
        let values = Probes(schema).wrong.filter { value in
            guard let string = value.string else { return schema["type"] != "string" }
            return (try? JSONValue(parsing: string.utf8)) == nil
        }
        return values.map(text)
    }

    private static func checkStrict(
        _ parameters: [JSONValue],
        of operation: ContractOperation,
        _ relay: RunningRelay
    ) async throws {
        guard operation.method == "GET" else { return }
        func call(_ arguments: String?...) async throws -> Refusal {
            let query = (arguments.compactMap(\.self) + ["\(unknown)=1"]).joined(separator: "&")
            return Refusal(try await relay.get("\(path(operation))?\(query)"))
        }
        let isWait = operation.path.hasSuffix("/wait")
        let known = try await call(isWait ? "until=static" : nil).known
        #expect(known == Set(parameters.compactMap { $0["name"]?.string }), "\(operation.name)")
        for parameter in parameters {
            let name = parameter["name"]?.string ?? ""
            if parameter["required"] == true {
                let refusal = try await call()
                #expect(refusal.field == name && refusal.code == "missing_field")
            }
            let way = isWait && name != "until" ? "until=static" : nil
            for value in Probes(parameter["schema"] ?? .null).right {
                let refusal = try await call(way, "\(name)=\(text(value))")
                #expect(refusal.isOfUnknown(), "\(operation.name) \(name) \(value.text)")
            }
            for text in wrong(parameter) {
                // What is wrong is refused without the unknown one.
                let query = [way, "\(name)=\(text)"].compactMap(\.self).joined(separator: "&")
                let refusal = Refusal(try await relay.get("\(path(operation))?\(query)"))
                #expect(refusal.field == name, "\(operation.name) \(name) \(text)")
            }
        }
    }

    /// Calls that pass over what they do not know.
    private static func checkLenient(
        _ parameters: [JSONValue],
        of operation: ContractOperation,
        _ relay: RunningRelay
    ) async throws {
        for parameter in parameters {
            let name = parameter["name"]?.string ?? ""
            for value in Probes(parameter["schema"] ?? .null).right {
                let answer = try await relay.call(.HEAD, "\(path(operation))?\(name)=\(text(value))&\(unknown)=1")
                #expect(answer.status == (operation.path.hasSuffix("/ws") ? 426 : 200), "\(operation.name)")
            }
            for text in wrong(parameter) {
                let refusal = Refusal(try await relay.get("\(path(operation))?\(name)=\(text)"))
                #expect(refusal.field == name && refusal.code == "unknown_value", "\(operation.name) \(text)")
            }
        }
    }
}
