import Foundation
import HeliographAPI
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

/// Tests of the arguments of calls. Each is sent with an unknown one, so that the call has no effect. If the relay
/// complains about the unknown one, it has accepted the others.
@Suite("The contract's arguments", .serialized)
struct ContractArgumentsTests {
    private static let contract = Contract.current
    private static let unknown = "nonsense"

    /// Values of a schema: some that are barely accepted, and some that are not.
    private struct Probes {
        var right: [JSONValue] = []
        var wrong: [JSONValue] = []

        /// - Parameter example: A right value, for texts of which a schema says more than the length.
        init(_ schema: JSONValue, example: JSONValue? = nil) {
            var schema = contract.document.dereferenced(schema)
            wrong = [[], [:]]
            if let choice = schema["oneOf"]?.elements {
                // The other alternative is null.
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
                case "string": addStrings(schema, example)
                case "array": addLists(schema)
                default: addNumbers(schema)
                }
            }
        }

        private mutating func addStrings(_ schema: JSONValue, _ example: JSONValue?) {
            // Other patterns are sets of characters, of which any are right.
            if schema["pattern"]?.string?.contains(",") == true, let text = example?.string {
                right.append(.string(text))
                wrong += [.string("\(text),"), "nonsense", "", 1, true]
                return
            }
            let (least, most) = (schema["minLength"]?.number ?? 0, schema["maxLength"]?.number ?? 200)
            // Two code points that look like one character.
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

        private mutating func addLists(_ schema: JSONValue) {
            wrong += ["[1,2]", 1, true]
            guard let least = schema["minItems"]?.number, let most = schema["maxItems"]?.number else { return }
            if least == 0 {
                wrong.removeAll { $0 == [] }
                right.append([])
            }
            let element = Probes(schema["items"] ?? .null)
            guard schema["items"]?["type"] == "number", let value = element.right.first else { return }
            right.append(.array(Array(repeating: value, count: Int(least))))
            wrong.append(.array(Array(repeating: value, count: Int(most) + 1)))
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

    /// Returns which argument of a call is refused first, and the allowed names if the argument is unknown.
    private struct Refusal {
        let field: String?
        let code: String?
        let known: Set<String>

        init(_ answer: RunningRelay.Answer) {
            field = answer.json["field"]?.string
            code = answer.code
            let listed = answer.json["detail"]?.string?.split(separator: "Allowed: ").dropFirst().first
            known = Set(listed?.split { ",. ".contains($0) }.map(String.init) ?? [])
        }

        /// Whether all arguments except the unknown one were accepted.
        func isOfUnknown(at place: String = "") -> Bool { code == "unknown_field" && field == place + unknown }
    }

    /// The target of a call, for a session of its codec or for the only device.
    private static func path(_ operation: ContractOperation) -> String {
        operation.path
            .replacing("{id}", with: operation.path.hasSuffix(".h265") ? "2" : "1")
            .replacing("{device}", with: "default")
            .replacing("{name}", with: "door")
            .replacing("{application}", with: "none")
            .replacing("{item}", with: "1")
            .replacing("{playlist}", with: "none")
            .replacing("{key}", with: "none")
            .replacing("{sheet}", with: "0")
            .replacing("{track}", with: "video")
            .replacing("{offset}", with: "0")
            .replacing("{segment}", with: "0.m4s")
            .replacing("{run}", with: "none")
            .replacing("{part}", with: "0.m4s")
    }

    @Test("in bodies are those that the calls take, with their ranges")
    func bodies() async throws {
        try await RunningRelay.run { relay in
            _ = try await relay.call(.PUT, "/v1/devices/default/sessions/door", body: [])
            let bodies = Self.contract.operations.filter {
                $0.value["requestBody"]?["content"]?["application/json"] != nil
            }
            #expect(bodies.count == 45)
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
    ///   - alternatives: The values that may stand in place of the object.
    ///   - place: The prefix of its fields' names.
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
            let type = contract.document.dereferenced(property.value)
            if type["type"] == "object" {
                try await Self.check(type, of: "\(name) \(property.name)", at: "\(place)\(property.name).") { value in
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

    /// Tries objects that are distinguished by their `kind`.
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
            // Not fewer than the contract allows for its MJPEG stream.
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

    /// Returns the value as written in a query.
    private static func text(_ value: JSONValue) -> String {
        (value.string ?? value.text).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// Returns invalid values of a parameter. A query distinguishes numbers and words by their form.
    private static func wrong(_ parameter: JSONValue) -> [String] {
        let schema = contract.document.dereferenced(parameter["schema"] ?? .null)
        let values = Probes(schema, example: parameter["example"]).wrong.filter { value in
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
            for value in Probes(parameter["schema"] ?? .null, example: parameter["example"]).right {
                let refusal = try await call(way, "\(name)=\(text(value))")
                #expect(refusal.isOfUnknown(), "\(operation.name) \(name) \(value.text)")
            }
            for text in wrong(parameter) {
                // A wrong value is refused even without the unknown one.
                let query = [way, "\(name)=\(text)"].compactMap(\.self).joined(separator: "&")
                let refusal = Refusal(try await relay.get("\(path(operation))?\(query)"))
                #expect(refusal.field == name, "\(operation.name) \(name) \(text)")
            }
        }
    }

    /// Calls that ignore unknown arguments.
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
