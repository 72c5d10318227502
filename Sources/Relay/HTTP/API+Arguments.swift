package import HeliographAPI
import Hummingbird
import HummingbirdCore
import NIOCore

extension API {
    /// Reads the arguments of a call strictly, from the place that its route defines.
    ///
    /// The device in the call's path counts as an argument.
    func arguments<Arguments: APIModel>(
        _: Arguments.Type,
        of request: Request,
        to route: Route,
        _ context: RelayRequestContext
    ) async throws -> Arguments {
        if route.refusesBody { try Self.refuseBody(of: request) }
        let takesDevice = Arguments.schema.fields.contains { $0.name == "device" }
        let pathDevice = takesDevice ? context.parameters.get("device") : nil
        func read(_ members: [JSONValue.Member]) async throws -> Arguments {
            let device = try await self.device(in: members, to: route, for: context.caller)
            return try Self.read(members, pathDevice ?? device)
        }
        let query = request.uri.query == nil ? [] : QueryFields.members(of: request.uri.string, for: route.arguments)
        switch route.place {
        case .nowhere: return Arguments()
        case .png: return try Self.read(query, nil)
        case .query, .content: return try await read(query)
        case .queryOrBody:
            var members = query
            members.append(contentsOf: try await Self.members(of: request, upTo: route.maximumBody))
            return try await read(members)
        case .body:
            let _: NoArguments = try Self.read(query, nil)
            return try await read(try await Self.members(of: request, upTo: route.maximumBody))
        }
    }

    private static func read<Arguments: APIModel>(_ members: [JSONValue.Member], _ device: String?) throws(Problem)
        -> Arguments
    {
        do {
            return try Arguments(reading: members, device: device)
        } catch {
            throw Problem(error)
        }
    }

    /// Returns the members of a request's body. Empty bytes stand for `{}`, and the content type is ignored.
    private static func members(of request: Request, upTo maximum: Int) async throws -> [JSONValue.Member] {
        let body = try await body(of: request, upTo: maximum)
        guard body.readableBytes > 0 else { return [] }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: body.readableBytesView)
        } catch {
            throw Problem(.brokenJSON, "the body is not JSON: \(error)")
        }
        guard case .object(let members) = value else {
            throw Problem(.notAnObject, "the body is \(value.kind); an object is expected, such as {\"fps\": 30}")
        }
        return members
    }

    /// Returns the bytes of a request's body.
    static func body(of request: Request, upTo maximum: Int) async throws -> ByteBuffer {
        do {
            return try await request.body.collect(upTo: maximum)
        } catch is NIOTooManyBytesError {
            throw Problem(.bodyTooLarge, "the body is longer than \(maximum) bytes")
        } catch is RequestLimitHandler.BodyTimeout {
            throw Problem(.requestTimeout, "the request's body did not arrive in time")
        } catch {
            // Broken chunks, or a client that left: not the relay's fault.
            throw Problem(.httpError, "the body cannot be read: \(error)")
        }
    }

    /// Refuses a request with a body, on routes that answer for a long time and would never read it.
    private static func refuseBody(of request: Request) throws(Problem) {
        let length = request.headers[.contentLength]
        guard request.headers[.transferEncoding] != nil || length.map({ $0 != "0" }) == true else { return }
        throw Problem(.httpError, "this call takes no body")
    }
}

/// The fields of a query.
package enum QueryFields {
    /// Returns the fields of an address's query. A string or word of the schema keeps its text; other values are parsed
    /// as JSON if they look like it.
    package static func members(of uri: String, for arguments: Schema) -> [JSONValue.Member] {
        URI(uri).queryParameters.map { name, value in
            let schema = arguments.fields.first { $0.name == name }?.schema
            return JSONValue.Member(
                name: String(name),
                value: schema?.isText == true ? .string(String(value)) : scalar(String(value))
            )
        }
    }

    private static func scalar(_ text: String) -> JSONValue {
        switch try? JSONValue(parsing: text.utf8) {
        case .bool(let bool): .bool(bool)
        case .integer(let integer): .integer(integer)
        case .number(let number): .number(number)
        default: .string(text)
        }
    }
}

extension Schema {
    fileprivate var isText: Bool {
        switch form {
        case .string, .pattern, .words, .constant: true
        default: false
        }
    }
}
