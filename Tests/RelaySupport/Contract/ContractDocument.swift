import Foundation
import HeliographAPI
import Packaging
import Program
import TestSupport

/// openapi.json, made of ``Routes`` and of the examples in examples.json.
package struct ContractDocument {
    private var schemas = JSONSchemaWriter()
    private let examples: JSONValue
    private var responses: [JSONValue.Member] = []

    /// The document's text.
    package static func text() throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("examples.json")
        var document = ContractDocument(examples: try JSONValue(parsing: try Data(contentsOf: file)))
        return document.json().indentedText
    }

    private init(examples: JSONValue) { self.examples = examples }

    private mutating func json() -> JSONValue {
        let paths = paths()
        // Answers to no operation.
        for problem in [
            ProblemAnswer.otherSite, .unknownRoute, .methodNotAllowed, .requestTimeout, .headerTooLarge,
            .tooManyConnections, .badLink, .forbiddenLink,
        ] { _ = response(problem, example: nil) }
        return [
            "openapi": "3.1.0",
            "info": Self.information,
            "servers": [
                ["url": "/", "description": "The relay that serves this document, by default http://127.0.0.1:8420."]
            ],
            "tags": .array(
                Route.Tag.allCases.map { ["name": .string($0.rawValue), "description": .string(Self.summary(of: $0))] }
            ),
            "paths": paths,
            "components": [
                "securitySchemes": Self.securitySchemes,
                "parameters": .object(
                    Self.pathParameters.map { .init(name: $0.name, value: parameter($0.field, in: "path")) }
                ),
                "responses": .object(responses),
                "schemas": .object(schemas.components),
                "examples": namedExamples,
            ],
        ]
    }

    // MARK: Paths

    private mutating func paths() -> JSONValue {
        var paths: [JSONValue.Member] = []
        let addresses = Routes.all.flatMap(\.addresses)
        for route in addresses.filter({ $0.addressKind != .alias }) + addresses.filter({ $0.addressKind == .alias }) {
            let operation = JSONValue.Member(name: route.method.rawValue.lowercased(), value: operation(route))
            if let place = paths.firstIndex(where: { $0.name == route.path }) {
                paths[place].value = .object((paths[place].value.members ?? []) + [operation])
            } else {
                let named = Self.pathParameters.filter { route.parameters.contains($0.field.name) }.map { parameter in
                    JSONValue.object([
                        .init(name: "$ref", value: .string("#/components/parameters/\(parameter.name)"))
                    ])
                }
                let parameters: JSONValue = named.isEmpty ? [:] : ["parameters": .array(named)]
                paths.append(.init(name: route.path, value: .object((parameters.members ?? []) + [operation])))
            }
        }
        return .object(paths)
    }

    private mutating func operation(_ route: Route) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init(name: "operationId", value: .string(route.name + route.addressKind.rawValue)),
            .init(name: "tags", value: [.string(route.tag.rawValue)]),
            .init(name: "summary", value: .string(route.summary)),
        ]
        let description = [route.description, Self.remark(on: route), Self.devices(of: route)].filter { !$0.isEmpty }
            .joined(separator: " ")
        if !description.isEmpty { members.append(.init(name: "description", value: .string(description))) }
        members.append(.init(name: "security", value: Self.security(of: route.access)))
        let parameters = parameters(of: route)
        if !parameters.isEmpty { members.append(.init(name: "parameters", value: .array(parameters))) }
        if route.takesBody { members.append(.init(name: "requestBody", value: body(of: route))) }
        if route.place == .png {
            let content: JSONValue = ["image/png": ["schema": schemas.json(.bytes)]]
            members.append(.init(name: "requestBody", value: ["required": true, "content": content]))
        }
        if route.place == .content {
            let contents = route.contents.map {
                JSONValue.Member(name: $0, value: ["schema": schemas.json(.bytes)])
            }
            members.append(.init(name: "requestBody", value: ["required": true, "content": .object(contents)]))
        }
        let problems = route.problems.map { problem in
            let status = "\(problem.status)"
            let example = examples["calls"]?[route.name]?["answers"]?[status]
            return JSONValue.Member(name: status, value: response(problem, example: example))
        }
        let answers = ([route.answer] + route.otherAnswers).map { answer in
            JSONValue.Member(name: "\(answer.status)", value: value(of: answer, to: route))
        }
        members.append(.init(name: "responses", value: .object(answers + problems)))
        return .object(members)
    }

    /// Returns the description of one of a call's addresses.
    private static func remark(on route: Route) -> String {
        switch route.addressKind {
        case .main: ""
        case .alias: "An alias of `\(route.name)`."
        case .named: "The same as `\(route.name)`, of the session of that name."
        case .device: "The same as `\(route.name)`, of the device's shared session, which the call may start."
        }
    }

    /// Returns what a call without a certain device means for keys of some devices.
    private static func devices(of route: Route) -> String {
        if route.needsAllDevices { return "The key must be for all devices." }
        return route.isScoped && route.tag != .access ? "It leaves out devices that the key is not for." : ""
    }

    private static func security(of access: RouteAccess) -> JSONValue {
        guard access != .anyone else { return [] }
        let role = JSONValue.string(access.rawValue)
        return [["key": [role]], ["certificate": [role]], ["cookie": [role]]]
    }

    // MARK: Arguments

    /// The parameters that are in the paths of many calls, by their names in the components.
    private static let pathParameters = [
        (name: "SessionID", field: Field("id", .integer(1...Int(UInt32.max)), "The session.", isRequired: true)),
        (name: "Device", field: Field("device", .device, "The device.", isRequired: true)),
        (
            name: "Name",
            field: Field("name", .shortName, "The name of the session or the template.", isRequired: true)
        ),
        (
            name: "ApplicationID",
            field: Field("application", .shortName, "The id of a launched application.", isRequired: true)
        ),
        (name: "ItemID", field: Field("item", .string(1...20), "The id of an item.", isRequired: true)),
        (name: "PlaylistName", field: Field("playlist", .shortName, "The name of a playlist.", isRequired: true)),
        (name: "KeyName", field: Field("key", .shortName, "The name of a key.", isRequired: true)),
        (name: "Sheet", field: Field("sheet", .integer(0...999), "The number of a sheet.", isRequired: true)),
        (name: "Track", field: Field("track", .words(MediaPlaylist.Track.self), "The track.", isRequired: true)),
        (
            name: "Offset",
            field: Field(
                "offset",
                .integer(0...1 << 52),
                "When the item begins in the recording, in µs; a playlist has it.",
                isRequired: true
            )
        ),
        (name: "Run", field: Field("run", .string(1...20), "The name of a run of live HLS.", isRequired: true)),
        (
            name: "Part",
            field: Field("part", .string(5...30), "`12.m4s`, `12.3.m4s` or `init0.mp4`.", isRequired: true)
        ),
        (
            name: "Segment",
            field: Field("segment", .string(5...14), "The segment's number from 0, and `.m4s`.", isRequired: true)
        ),
    ]

    private mutating func parameters(of route: Route) -> [JSONValue] {
        var parameters: [JSONValue] = []
        if route.parameters.contains("file") {
            parameters.append(parameter(Field("file", Self.pageFiles, isRequired: true), in: "path"))
        }
        switch route.place {
        case .query, .queryOrBody, .content:
            let own = examples["calls"]?[route.name]?["values"]
            return parameters + route.arguments.fields.map { parameter($0, in: "query", example: own?[$0.name]) }
        case .body, .nowhere, .png: return parameters
        }
    }

    /// - Parameter example: Its own example; `nil` for that of its name.
    private mutating func parameter(_ field: Field, in place: String, example: JSONValue? = nil) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init(name: "name", value: .string(field.name)), .init(name: "in", value: .string(place)),
        ]
        if field.isRequired { members.append(.init(name: "required", value: true)) }
        return .object(members + described(field, example: example))
    }

    /// What parameters and headers have in common.
    private mutating func described(_ field: Field, example: JSONValue? = nil) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if !field.summary.isEmpty { members.append(.init(name: "description", value: .string(field.summary))) }
        var schema = field.schema
        if schema.name == nil { schema.summary = "" }
        members.append(.init(name: "schema", value: schemas.json(schema)))
        if let example = example ?? examples["values"]?[field.name] {
            members.append(.init(name: "example", value: example))
        }
        return members
    }

    /// The files of the page beside index.html.
    private static var pageFiles: Schema {
        let folder = Programs.repository.appendingPathComponent("Sources/Relay/Page").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return Schema.words(names.filter { $0 != "index.html" }.sorted())
    }

    private mutating func body(of route: Route) -> JSONValue {
        let example = examples["calls"]?[route.name]?["request"]
        let content = content(
            [("application/json", route.arguments)],
            example: route.parameters.contains("device") ? example?.withoutDevice : example
        )
        let isRequired = route.arguments.fields.contains(where: \.isRequired)
        return isRequired ? ["required": true, "content": content] : ["content": content]
    }

    // MARK: Answers

    private mutating func value(of answer: Route.Answer, to route: Route) -> JSONValue {
        var members: [JSONValue.Member] = [.init(name: "description", value: .string(answer.description))]
        if !answer.headers.isEmpty { members.append(.init(name: "headers", value: headers(answer.headers))) }
        if !answer.contents.isEmpty {
            let example = examples["calls"]?[route.name]?["answers"]?["\(answer.status)"]
            members.append(.init(name: "content", value: content(answer.contents, example: example)))
        }
        if !route.links.isEmpty {
            let links = route.links.map { link in
                JSONValue.Member(
                    name: link.name,
                    value: [
                        "operationId": .string(link.route), "description": .string(link.summary),
                        "parameters": ["id": "$response.body#/id"],
                    ]
                )
            }
            members.append(.init(name: "links", value: .object(links)))
        }
        return .object(members)
    }

    /// A reference if the response has a name.
    private mutating func response(_ problem: ProblemAnswer, example: JSONValue?) -> JSONValue {
        guard let name = problem.name else { return inline(problem, example: example) }
        if !responses.contains(where: { $0.name == name }) {
            responses.append(.init(name: name, value: inline(problem, example: nil)))
        }
        return ["$ref": .string("#/components/responses/\(name)")]
    }

    private mutating func inline(_ problem: ProblemAnswer, example: JSONValue?) -> JSONValue {
        var members: [JSONValue.Member] = [.init(name: "description", value: .string(problem.description))]
        if !problem.headers.isEmpty { members.append(.init(name: "headers", value: headers(problem.headers))) }
        var schema: [JSONValue.Member] = [.init(name: "allOf", value: [schemas.json(ProblemReport.schema)])]
        let required = problem.fields.filter(\.isRequired).map { JSONValue.string($0.name) }
        if !required.isEmpty { schema.append(.init(name: "required", value: .array(required))) }
        let code: JSONValue = ["enum": .array(problem.codes.map { .string($0.rawValue) })]
        let own = schemas.properties(problem.fields).value.members ?? []
        schema.append(.init(name: "properties", value: .object([.init(name: "code", value: code)] + own)))
        schema.append(.init(name: "unevaluatedProperties", value: false))
        var media: [JSONValue.Member] = [.init(name: "schema", value: .object(schema))]
        if let example {
            let order = (ProblemReport.schema.fields + problem.fields)
            media.append(.init(name: "example", value: example.ordered(by: Schema(.object(order)))))
        }
        members.append(.init(name: "content", value: ["application/problem+json": .object(media)]))
        return .object(members)
    }

    private mutating func headers(_ fields: [Field]) -> JSONValue {
        .object(
            fields.map { field in
                let described = described(field)
                let required: JSONValue = field.isRequired ? ["required": true] : [:]
                return .init(name: field.name, value: .object((required.members ?? []) + described))
            }
        )
    }

    /// - Parameter example: One, an object `examples` of several, or the name of one in the components.
    private mutating func content(_ contents: [(type: String, schema: Schema)], example: JSONValue?) -> JSONValue {
        .object(
            contents.map { type, schema in
                var media: [JSONValue.Member] = [.init(name: "schema", value: schemas.json(schema))]
                if let name = example?.string, schema.name == name {
                    let reference: JSONValue = ["$ref": .string("#/components/examples/\(name)")]
                    media.append(
                        .init(name: "examples", value: .object([.init(name: name.lowercased(), value: reference)]))
                    )
                } else if let several = example?["examples"] {
                    media.append(.init(name: "examples", value: several))
                } else if let example {
                    media.append(.init(name: "example", value: example.ordered(by: schema)))
                }
                return .init(name: type, value: .object(media))
            }
        )
    }

    private var namedExamples: JSONValue {
        let schemas = ["Session": SessionReport.schema, "Caller": CallerReport.schema]
        return .object(
            (examples["named"]?.members ?? []).map { example in
                let value = schemas[example.name].map { example.value.ordered(by: $0) } ?? example.value
                return .init(name: example.name, value: ["value": value])
            }
        )
    }

    // MARK: Texts

    private static let information: JSONValue = [
        "title": "Heliograph relay",
        "version": .string(Release.current),
        "summary": "Broadcasts of screens, and the sessions that show them.",
        "description": """
        docs/reference/api.md says what goes beyond a table. Request bodies are JSON objects, whatever their Content-Type, and an \
        empty body is `{}`. An unknown field is an error. Answers have every field, null if there is nothing to say, and \
        must not be cached. The relay answers HEAD as GET, without the body. The responses UnknownRoute and \
        MethodNotAllowed describe the answers of other paths and of other methods. The responses RequestTimeout, \
        HeaderTooLarge and TooManyConnections concern connections. A request that is not HTTP gets `http_error` with \
        status 400. Once the relay has a key file, calls need a key of the role that their security names, or of one that \
        includes it. A security that begins with `library:` names a right in the library, which a key has by its role or \
        on its own.
        """,
        "license": ["name": "GPL-2.0-or-later", "identifier": "GPL-2.0-or-later"],
    ]

    private static func summary(of tag: Route.Tag) -> String {
        switch tag {
        case .broadcasts: "A broadcast is a device's live capture agent."
        case .sessions: "A session is one encoded stream of a device."
        case .viewers: "Viewers watch a session or take its picture."
        case .waits: "Callers wait for what a screen shows."
        case .actions: "Callers act on a screen: pointer, touch, keys."
        case .library: "Recordings of sessions."
        case .applications: "Applications that are launched on a device's desktop."
        case .access: "Whose key it is, and the web page's login."
        case .monitoring: "For monitors and service managers."
        case .page: "The web page, and this document."
        }
    }

    private static let securitySchemes: JSONValue = [
        "key": [
            "type": "http", "scheme": "bearer", "description": "An API key. `heliograph keys make` makes one.",
        ],
        "certificate": [
            "type": "mutualTLS",
            "description": "A client that has paired. It needs no key.",
        ],
        "cookie": [
            "type": "apiKey", "in": "cookie", "name": "heliograph-8420",
            "description": """
            POST /auth/login sets it; its name ends with the relay's port. Calls that change something need an `Origin` of \
            the relay's own with it, or `Sec-Fetch-Site: same-origin`.
            """,
        ],
    ]
}

extension JSONValue {
    /// The same example, or examples, of arguments for a path that names the device.
    fileprivate var withoutDevice: JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(
            members.filter { $0.name != "device" }.map { .init(name: $0.name, value: $0.value.withoutDevice) }
        )
    }

    /// The same value with the members of objects in the order of a schema's fields.
    fileprivate func ordered(by schema: Schema) -> JSONValue {
        switch (self, schema.form) {
        case (.object(let members), .object(let fields)):
            let known = fields.compactMap { field in
                self[field.name].map { Member(name: field.name, value: $0.ordered(by: field.schema)) }
            }
            return .object(known + members.filter { member in !fields.contains { $0.name == member.name } })
        case (.array(let elements), .array(let schema)):
            return .array(elements.map { $0.ordered(by: schema) })
        default: return self
        }
    }
}
