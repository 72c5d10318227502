/// One call of the API: how it is made, who may make it, and what it answers.
///
/// The relay serves ``Routes``, the command calls them, and openapi.json is generated from them.
package struct Route: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case patch = "PATCH"
    }

    /// Where a call's arguments are.
    package enum Place: Sendable {
        case query
        case body
        /// In either, but the same one not in both.
        case queryOrBody
        /// Nowhere: the call ignores its query.
        case nowhere
    }

    /// A group of routes in openapi.json.
    package enum Tag: String, Sendable, CaseIterable {
        case broadcasts, sessions, viewers, access, monitoring, page
    }

    /// openapi.json's operationId.
    package let name: String
    package let method: Method
    /// Its address. Parameters are in braces.
    package private(set) var path: String
    /// A second address of the same call, outside /v1.
    package private(set) var alias: String?
    /// Whether ``path`` is the alias of another address.
    package private(set) var isAlias = false
    package let access: RouteAccess
    package let tag: Tag
    /// What the call does, in a sentence.
    package let summary: String
    /// What else there is to say of it.
    package var description = ""
    package var place: Place
    /// The object that the arguments are the members of.
    package private(set) var arguments: Schema
    package var answer: Answer
    /// Whether the call needs a device, if there are several and none is the default.
    package var needsDevice = false
    /// Whether a request with a body is refused.
    package var refusesBody = false
    /// Whether pages of other sites may show the answer as a picture.
    package var isEmbeddable = false
    /// The problems that do not follow from the rest.
    package var ownProblems: [ProblemAnswer] = []
    /// Calls that an answer leads to.
    package var links: [Link] = []

    /// An answer of success.
    package struct Answer: Sendable {
        package var status = 200
        package let description: String
        /// The bodies that there are, by media type; none for an upgrade.
        package let contents: [(type: String, schema: Schema)]
        package var headers: [Field] = []

        package static func json(_ schema: Schema, _ status: Int = 200, _ description: String) -> Answer {
            Answer(status: status, description: description, contents: [("application/json", schema)])
        }

        package static func stream(_ type: String, _ description: String = "The stream.") -> Answer {
            Answer(description: description, contents: [(type, .bytes)])
        }
    }

    package struct Link: Sendable {
        package let name: String
        /// The name of the route.
        package let route: String
        package let summary: String
    }

    /// The call at each of its addresses, ``path`` first. Where the path names the device, the arguments do not.
    package var addresses: [Route] {
        [path, alias].compactMap(\.self).map { address in
            var route = self
            (route.path, route.alias, route.isAlias) = (address, nil, address == alias)
            if route.parameters.contains("device") {
                route.arguments = arguments.without("device")
                route.needsDevice = false
            }
            return route
        }
    }

    /// The call at its alias, or as it is if it has none.
    package var aliased: Route { addresses.last ?? self }

    /// The same call at another address, where each value of a path's parameter is served by itself.
    package func at(_ path: String) -> Route {
        var route = self
        route.path = path
        return route
    }

    /// The path of a call about a session.
    package func path(session id: UInt32) -> String { path.replacing("{id}", with: "\(id)") }

    /// What a call's path has for a parameter; nil for a path that is not the route's.
    package func value(of parameter: String, in path: some StringProtocol) -> String? {
        let names = self.path.split(separator: "/", omittingEmptySubsequences: false)
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        // As the router has it.
        if parts.last == "" { parts.removeLast() }
        guard names.count == parts.count, zip(names, parts).allSatisfy({ $0.hasPrefix("{") || $0 == $1 }) else {
            return nil
        }
        return zip(names, parts).first { $0.0 == "{\(parameter)}" }.map { String($0.1) }
    }

    /// The names of the path's parameters.
    package var parameters: [String] {
        path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
    }
}

/// Who may call a route. Its raw value is what docs/api.md calls them.
package enum RouteAccess: String, Sendable {
    /// Everybody who reaches the relay.
    case anyone
    /// Holders of any key.
    case viewer
    /// Holders of an operator's key.
    case `operator`
}

/// A route with the types of its arguments and its answer.
package struct Call<Arguments: APIModel, Output: Sendable>: Sendable {
    package let route: Route
}

extension Call where Output: APIModel {
    /// A call that answers JSON.
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

/// An answer that is no JSON of a type: a stream, a picture, a page.
package enum Bytes: Sendable {}

extension Call where Output == Bytes {
    /// A call that answers something else than JSON.
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
