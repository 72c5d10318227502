import Foundation
import HeliographAPI
import NIOHTTP1
import Program
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("The contract")
struct ContractTests {
    private static let contract = Contract.current

    @Test("is what the relay serves, with its release")
    func served() async throws {
        try await RunningRelay.run { relay in
            let answer = try await relay.get("/openapi.json")
            let file = Programs.repository.appendingPathComponent("Sources/Relay/HTTP/openapi.json")
            #expect(answer.text == (try String(contentsOf: file, encoding: .utf8)))
            #expect(answer.headers["content-type"] == ["application/json"])
            #expect(answer.json["info"]?["version"] == .string(Release.current))
        }
    }

    /// Returns who may call an operation according to its security. Key roles are written there as scopes.
    private static func access(_ operation: ContractOperation) -> String? {
        guard let security = operation.value["security"]?.elements, !security.isEmpty else { return "anyone" }
        let role = security[0]["key"]?.elements?.first
        return role.flatMap { security == [["key": [$0]], ["certificate": [$0]], ["cookie": [$0]]] ? $0.string : nil }
    }

    @Test("has every route at its addresses, says whom it is for, and has no other")
    func routes() throws {
        let routes = Routes.all.flatMap(\.addresses).map { ("\($0.method.rawValue) \($0.path)", $0.access.rawValue) }
        let described = Self.contract.operations.map { ($0.name, Self.access($0)) }
        #expect(Dictionary(uniqueKeysWithValues: described) == Dictionary(uniqueKeysWithValues: routes))
        #expect(described.count > 40)
        // Each declared one is in the list.
        let folder = Programs.repository.appendingPathComponent("Sources/HeliographAPI/Routes")
        let declared = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .flatMap { file in
                try String(contentsOf: file, encoding: .utf8)
                    .matches(of: /package static let (\w+) = (?:Call|stream|snapshot|sound|link)\b/)
                    .map { String($0.output.1) }
            }
        #expect(declared.sorted() == Routes.all.map(\.name).sorted())
    }

    @Test("has paths that are matched part by part")
    func matching() {
        let route = Routes.watchOverWebSocket.route
        for path in ["/v1/sessions/7/ws", "/v1/sessions/7/ws/"] { #expect(route.value(of: "id", in: path) == "7") }
        for path in ["/screencapture/7/ws", "/v1/sessions/7/w", "v1/sessions/7/ws", "/v1//sessions/7/ws", "/", ""] {
            #expect(route.value(of: "id", in: path) == nil, "\(path)")
        }
        #expect(route.aliased.value(of: "id", in: "/screencapture/7/ws") == "7")
        #expect(route.value(of: "device", in: "/v1/sessions/7/ws") == nil)
    }

    @Test("names every file of the page, and no other")
    func pageFiles() async throws {
        let operation = try #require(Self.contract.operation("GET", "/page/app.js"))
        let files = (operation.parameters.first?["schema"]?["enum"]?.elements ?? []).compactMap(\.string)
        #expect(files.count > 10)
        try await RunningRelay.run { relay in
            for (file, status) in files.map({ ($0, 200) }) + [("other.js", 404)] {
                let answer = try await relay.get("/page/\(file)")
                #expect(answer.status == status, "\(file)")
            }
        }
    }

    @Test("names the parameters of its paths, and each operation once")
    func names() {
        for operation in Self.contract.operations {
            let named = operation.path.matches(of: /{([a-z]+)}/).map { String($0.output.1) }
            let described = operation.parameters.filter { $0["in"] == "path" }.compactMap { $0["name"]?.string }
            #expect(described == named, "\(operation.name)")
            #expect(operation.value["summary"] != nil && operation.value["tags"] != nil, "\(operation.name)")
        }
        let ids = Self.contract.operations.map { $0.value["operationId"]?.string ?? "" }
        #expect(Set(ids).count == ids.count && !ids.contains(""))
    }

    @Test("has every problem's code with its status, and no other")
    func codes() {
        let contract = Self.contract
        let all = contract.document.resolved("#/components/schemas/Problem/properties/code/enum")?.elements
        #expect(all?.compactMap(\.string) == Problem.Code.allCases.map(\.rawValue))
        // These belong to no operation.
        let others: KeyValuePairs = [
            "UnknownRoute": "unknown_route", "MethodNotAllowed": "method_not_allowed",
            "RequestTimeout": "request_timeout", "HeaderTooLarge": "header_too_large",
            "TooManyConnections": "too_many_connections", "BadLink": "bad_link", "ForbiddenLink": "forbidden_link",
        ]
        for (name, code) in others { #expect(contract.codes(of: contract.response(name)) == [code]) }
        var described = Set(others.map(\.value))
        for operation in contract.operations {
            for response in operation.value["responses"]?.members ?? [] {
                let codes = contract.codes(of: contract.document.dereferenced(response.value))
                #expect(codes.isEmpty == !(response.name.first.map { "45".contains($0) } ?? true), "\(operation.name)")
                for code in codes {
                    let status = Problem.Code(rawValue: code)?.status
                    #expect(status == Int(response.name), "\(operation.name): \(code)")
                }
                described.formUnion(codes)
            }
        }
        #expect(described == Set(Problem.Code.allCases.map(\.rawValue)))
    }

    /// Returns the examples of a parameter, a header, or a body's media type.
    private static func examples(of value: JSONValue) -> [JSONValue] {
        let named = (value["examples"]?.members ?? []).map { contract.document.dereferenced($0.value)["value"] }
        return ([value["example"]] + named).compactMap(\.self)
    }

    @Test("has an example of every call, and all conform")
    func examples() {
        let contract = Self.contract
        func check(_ value: JSONValue, _ place: String) -> Bool {
            let examples = Self.examples(of: value)
            for example in examples {
                let faults = contract.schema(value["schema"] ?? .null).faults(of: example)
                #expect(faults == [], "\(place)")
            }
            return !examples.isEmpty
        }
        func check(content value: JSONValue, _ place: String) -> Bool {
            (value["content"]?.members ?? []).map { check($0.value, "\(place) \($0.name)") }.contains(true)
        }
        for operation in contract.operations {
            let parameters = operation.parameters.map { check($0, "\(operation.name) \($0["name"]?.string ?? "")") }
            #expect(!parameters.contains(false), "\(operation.name)")
            // A picture has no example.
            let body = operation.value["requestBody"]?["content"]?["application/json"]
            #expect(body.map { check($0, operation.name) } != false, "\(operation.name)")
            var successes: [Bool] = []
            for response in operation.value["responses"]?.members ?? [] {
                let value = contract.document.dereferenced(response.value)
                for header in value["headers"]?.members ?? [] {
                    _ = check(contract.document.dereferenced(header.value), "\(operation.name) \(header.name)")
                }
                let hasExample = check(content: value, "\(operation.name) \(response.name)")
                // An upgrade has no content.
                if response.name.hasPrefix("2") || response.name == "101" {
                    successes.append(hasExample || response.name == "101")
                }
            }
            #expect(successes.contains(true) || parameters.contains(true), "\(operation.name)")
        }
    }

    @Test(
        "finds answers that are not as it says",
        arguments: [
            ("\"viewers\": {", "\"watchers\": {"), ("\"/screencapture/{id}\": {", "\"/elsewhere/{id}\": {"),
            ("\"enum\": [\"h264\", \"h265\"]", "\"enum\": [\"av1\"]"),
            ("\"createdAt\": {", "\"createdAt\": {\"nonsense\": 1,"),
        ]
    )
    func faults(text: String, changed: String) async throws {
        let path = "/screencapture/1"
        let file = Programs.repository.appendingPathComponent("Sources/Relay/HTTP/openapi.json")
        let document = try String(contentsOf: file, encoding: .utf8).replacing(text, with: changed)
        let contract = Contract(try JSONValue(parsing: document.utf8))
        try await RunningRelay.run { relay in
            _ = try await relay.startSession()
            let answer = try await relay.get(path)
            #expect(Self.contract.faults(of: answer, to: "GET", path) == [])
            #expect(contract.faults(of: answer, to: "GET", path).count == 1)
            // They do not belong to another call, either.
            #expect(Self.contract.faults(of: answer, to: "GET", "/screencapture") != [])
            #expect(Self.contract.faults(of: answer, to: "POST", path) != [])
            #expect(Self.contract.faults(of: answer, to: "GET", "/nowhere") != [])
        }
    }
}
