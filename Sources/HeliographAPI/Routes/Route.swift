/// One call of the API: how it is made, who may make it, and what it answers.
///
/// The relay serves ``Routes``, the command calls them, and openapi.json is generated from them.
package struct Route: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// Where the arguments of a call are.
    package enum Place: Sendable {
        case query
        case body
        /// In the query or the body, but no argument in both.
        case queryOrBody
        /// None: the body is a PNG image.
        case png
        /// In the query; the body is one of ``Route/contents``.
        case content
        /// None: the call ignores its query.
        case nowhere
    }

    /// A group of routes in openapi.json.
    package enum Tag: String, Sendable, CaseIterable {
        case broadcasts, sessions, viewers, waits, actions, applications, library, access, monitoring, page
    }

    /// openapi.json's operationId.
    package let name: String
    package let method: Method
    /// The address, with parameters in braces.
    package private(set) var path: String
    /// A second address of the same call, outside /v1.
    package private(set) var alias: String?
    /// The kind of the address in ``path``.
    package private(set) var addressKind = AddressKind.main
    /// Whether a call about a session also has an address of the device, for the device's shared session.
    package var isOfDevice = false
    package let access: RouteAccess
    package let tag: Tag
    /// A sentence about what the call does.
    package let summary: String
    /// Further details.
    package var description = ""
    package var place: Place
    /// The object whose members are the arguments.
    package private(set) var arguments: Schema
    package var answer: Answer
    /// Other successful answers.
    package var otherAnswers: [Answer] = []
    /// Whether the call needs a device, if there are several and none is the default.
    package var needsDevice = false
    /// Whether the call covers only the devices that the caller's key is for, and leaves out the others.
    package var isScoped = false
    /// Whether each GET is audited, because its answer shows what was on a screen.
    package var auditsReads = false
    /// The media types of a body that has no arguments.
    package var contents: [String] = []
    /// The longest body that the call reads, in bytes.
    package var maximumBody = Self.usualBody
    /// Whether a request with a body is refused.
    package var refusesBody = false
    /// Whether pages of other sites may show the answer as an image.
    package var isEmbeddable = false
    /// The problems that do not follow from other properties.
    package var ownProblems: [ProblemAnswer] = []
    /// Links from an answer to further calls.
    package var links: [Link] = []

    /// A successful answer.
    package struct Answer: Sendable {
        package var status = 200
        package let description: String
        /// The possible bodies by media type; empty for an upgrade.
        package let contents: [(type: String, schema: Schema)]
        package var headers: [Field] = []

        package static func json(_ schema: Schema, _ status: Int = 200, _ description: String) -> Answer {
            Answer(status: status, description: description, contents: [("application/json", schema)])
        }

        package static func stream(_ type: String, _ description: String = "The stream.") -> Answer {
            Answer(description: description, contents: [(type, .bytes)])
        }

        /// An upgrade to a WebSocket.
        static let webSocket = Answer(
            status: 101,
            description: "The connection is a WebSocket now.",
            contents: [],
            headers: [
                Field("Upgrade", .constant("websocket"), isRequired: true),
                Field("Connection", .text, isRequired: true),
                Field("Sec-WebSocket-Accept", .text, isRequired: true),
            ]
        )
    }

    /// A link from an answer to a further call, for openapi.json.
    package struct Link: Sendable {
        package let name: String
        /// The name of the route.
        package let route: String
        package let summary: String
    }

    /// The kinds of addresses. The raw value is the suffix of the call's operationId.
    package enum AddressKind: String, Sendable {
        /// The call's ``Route/path``.
        case main = ""
        case alias = "Alias"
        /// A session by its device and name instead of its id.
        case named = "ByName"
        /// A device, for its shared session.
        case device = "OfDevice"
    }

    /// The call at each of its addresses, ``path`` first. If a path names the device, the arguments do not.
    package var addresses: [Route] {
        var addresses = [(path, AddressKind.main)]
        if let alias { addresses.append((alias, .alias)) }
        if path.hasPrefix(Self.session) {
            let rest = path.dropFirst(Self.session.count)
            addresses.append((Self.namedSession + rest, .named))
            if isOfDevice { addresses.append((Self.device + rest, .device)) }
        }
        return addresses.map { address, kind in
            var route = self
            (route.path, route.alias, route.addressKind) = (address, nil, kind)
            if route.parameters.contains("device") {
                route.arguments = arguments.without("device")
                route.needsDevice = false
            }
            return route
        }
    }

    /// The longest body of most calls, in bytes.
    package static let usualBody = 64 << 10

    private static let session = "/v1/sessions/{id}"
    private static let device = "/v1/devices/{device}"
    package static let namedSession = device + "/sessions/{name}"
    /// The name of the session for a device's own addresses.
    package static let sharedSession = "shared"

    /// The call at its alias, or unchanged if it has none.
    package var aliased: Route { addresses.first { $0.addressKind == .alias } ?? self }

    /// Returns the same call at another address. It is used if each value of a path's parameter is served separately.
    package func at(_ path: String) -> Route {
        var route = self
        route.path = path
        return route
    }

    /// Returns the path of a call about a session.
    package func path(session id: UInt32) -> String { path.replacing("{id}", with: "\(id)") }

    /// Returns the value of a parameter in a call's path; `nil` if the path is not of this route.
    package func value(of parameter: String, in path: some StringProtocol) -> String? {
        let names = self.path.split(separator: "/", omittingEmptySubsequences: false)
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        // The router ignores a trailing slash too.
        if parts.last == "" { parts.removeLast() }
        guard names.count == parts.count, zip(names, parts).allSatisfy({ $0.hasPrefix("{") || $0 == $1 }) else {
            return nil
        }
        return zip(names, parts).first { $0.0 == "{\(parameter)}" }.map { String($0.1) }
    }

    /// Whether the call needs a key of all devices, because it is about no certain one and is not ``isScoped``.
    package var needsAllDevices: Bool {
        access != .anyone && !isScoped && !needsDevice && Set(parameters).isDisjoint(with: ["device", "id", "item"])
    }

    /// Whether a key may be refused because it is not for the call's devices.
    var mayForbidDevice: Bool {
        access != .anyone && (!isScoped || arguments.fields.contains { $0.name == "device" })
    }

    /// Who may call, for people: the least role or the right, and whether the key must be for all devices.
    package var callers: String { needsAllDevices ? "\(access.rawValue), of all devices" : access.rawValue }

    /// The names of the path's parameters.
    package var parameters: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }
}

/// The access that a route needs. The raw value is its name in docs/reference/api.md and openapi.json.
package enum RouteAccess: String, Sendable {
    /// Every caller that reaches the relay.
    case anyone
    /// Holders of any key.
    case viewer
    /// Holders of a controller's or an operator's key. Without keys, only the relay's own user.
    case controller
    /// Holders of an operator's key.
    case `operator`
    /// Holders of a key that may look at recordings.
    case look = "library:look"
    /// Holders of a key that may record.
    case record = "library:record"
    /// Holders of a key that may delete and change recordings.
    case delete = "library:delete"
}

/// A route with the types of its arguments and its answer.
package struct Call<Arguments: APIModel, Output: Sendable>: Sendable {
    package let route: Route
}

extension Call where Output: APIModel {
    /// Creates a call that answers with JSON.
    init(
        _ name: String,
        _ method: Route.Method,
        _ path: String,
        alias: String? = nil,
        for access: RouteAccess,
        _ tag: Route.Tag,
        _ summary: String,
        _ description: String = "",
        arguments place: Route.Place? = nil,
        status: Int = 200,
        answer: String,
        adjust: (inout Route) -> Void = { _ in }
    ) {
        var route = Route(
            name: name,
            method: method,
            path: path,
            alias: alias,
            access: access,
            tag: tag,
            summary: summary,
            description: description,
            place: place ?? (method == .get ? .query : .body),
            arguments: Arguments.schema,
            answer: .json(Output.schema, status, answer)
        )
        adjust(&route)
        self.init(route: route)
    }
}

/// An answer that is not JSON: a stream, an image, a page.
package enum Bytes: Sendable {}

extension Call where Output == Bytes {
    /// Creates a call whose answer is not JSON.
    init(
        _ name: String,
        _ path: String,
        alias: String? = nil,
        for access: RouteAccess,
        _ tag: Route.Tag,
        _ summary: String,
        _ description: String = "",
        arguments place: Route.Place = .query,
        answer: Route.Answer,
        adjust: (inout Route) -> Void = { _ in }
    ) {
        var route = Route(
            name: name,
            method: .get,
            path: path,
            alias: alias,
            access: access,
            tag: tag,
            summary: summary,
            description: description,
            place: place,
            arguments: Arguments.schema,
            answer: answer
        )
        adjust(&route)
        self.init(route: route)
    }
}
