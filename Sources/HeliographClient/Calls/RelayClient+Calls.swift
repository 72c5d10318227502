import AsyncHTTPClient
import FoundationEssentials
package import HeliographAPI
package import NIOCore
import NIOHTTP1

extension RelayClient {
    /// The time limit for a usual answer.
    package static let answerTime = Duration.seconds(10)
    /// The time limit for a broadcast's stop: the relay waits for agents that are slow to leave.
    package static let stopTime = Duration.seconds(20)
    /// The time limit for the answer to an action: more than the relay gives the agent.
    package static let actionTime = Duration.seconds(120)
    /// How much more time a call gets that may start a device's broadcast.
    private static let startTime = Duration.seconds(20)
    /// Most bytes of a snapshot: what an agent may send (docs/reference/wire.md).
    package static let longestImage = 16 << 20

    private static let defaultDevice = "default"

    /// Makes a call and returns the relay's report.
    ///
    ///     let status = try await client.report(of: Routes.getBroadcast, DeviceArgument(device: "left"))
    package func report<Arguments, Report: APIModel>(
        of call: Call<Arguments, Report>,
        _ arguments: Arguments = Arguments(),
        at place: CallPlace = .relay,
        timeout: Duration = RelayClient.answerTime
    ) async throws(RelayError) -> Report {
        try await answer(to: call, arguments, at: place, timeout: timeout).report()
    }

    /// Makes a call about a session and returns the relay's report.
    package func report<Arguments, Report: APIModel>(
        of call: Call<Arguments, Report>,
        _ arguments: Arguments = Arguments(),
        at session: SessionAddress
    ) async throws(RelayError) -> Report {
        try await answer(to: call, arguments, at: session).report()
    }

    /// Makes a call about a session and returns the relay's answer.
    ///
    /// - Parameter timeout: The time limit for the answer, in addition to the start of a broadcast that the call may
    ///   need.
    package func answer<Arguments, Output>(
        to call: Call<Arguments, Output>,
        _ arguments: Arguments = Arguments(),
        at session: SessionAddress,
        limit: Int = Answer<Output>.longest,
        timeout: Duration = RelayClient.answerTime
    ) async throws(RelayError) -> Answer<Output> {
        var timeout = timeout
        if case .shared = session { timeout += Self.startTime }
        return try await answer(to: call, arguments, at: session.place(of: call.route), limit: limit, timeout: timeout)
    }

    /// Makes a call and returns the relay's answer.
    ///
    /// - Parameters:
    ///   - upload: The content that the call takes as its body, beside arguments in the query.
    ///   - type: The content's media type.
    ///   - json: The body that the call gets instead of `arguments`.
    ///   - limit: Most bytes of the answer.
    ///   - timeout: The time limit for the answer.
    package func answer<Arguments, Output>(
        to call: Call<Arguments, Output>,
        _ arguments: Arguments = Arguments(),
        at place: CallPlace = .relay,
        upload: ByteBuffer? = nil,
        type: String = "image/png",
        json: JSONValue? = nil,
        limit: Int = Answer<Output>.longest,
        timeout: Duration = RelayClient.answerTime
    ) async throws(RelayError) -> Answer<Output> {
        let route = call.route
        var request = HTTPClientRequest(url: url + place.path(of: route))
        request.method = HTTPMethod(rawValue: route.method.rawValue)
        if let upload {
            request.headers.add(name: "content-type", value: type)
            request.body = .bytes(upload)
            request.url += try Query.text(arguments)
        } else if route.takesBody {
            request.headers.add(name: "content-type", value: "application/json")
            let body = if let json { Array(json.text.utf8) } else { try Query.json(arguments) }
            request.body = .bytes(ByteBuffer(bytes: body))
        } else {
            request.url += try Query.text(arguments)
        }
        let response = try await execute(request, about: place, deadline: .now() + TimeAmount(timeout))
        let body = AnswerBody(response.body, of: url, "broke its answer off")
        return Answer(
            status: Int(response.status.code),
            bytes: try await body.collect(atMost: limit),
            headers: response.headers,
            url: url
        )
    }

    /// Makes a call whose answer is a stream.
    ///
    /// - Parameters:
    ///   - headers: Further fields of the request.
    ///   - timeout: How long the stream may be; `nil` for no limit.
    ///   - deed: What the relay did if the stream ends early, as in "broke the stream off".
    package func stream<Arguments>(
        _ call: Call<Arguments, Bytes>,
        _ query: Arguments = Arguments(),
        at place: CallPlace = .relay,
        headers: [(name: String, value: String)] = [],
        timeout: Duration? = nil,
        _ deed: String = "broke the stream off"
    ) async throws(RelayError) -> StreamedAnswer {
        var request = HTTPClientRequest(url: url + place.path(of: call.route) + (try Query.text(query)))
        request.headers = HTTPHeaders(headers.map { ($0.name, $0.value) })
        let deadline = timeout.map { .now() + TimeAmount($0) } ?? NIODeadline.distantFuture
        let response = try await execute(request, about: place, deadline: deadline)
        return StreamedAnswer(
            status: Int(response.status.code),
            headers: response.headers,
            body: AnswerBody(response.body, of: url, deed)
        )
    }

    /// Returns `name`, or the name of the relay's default device if it is `nil`.
    package func deviceName(_ name: String?) async throws(RelayError) -> String {
        if let name { return name }
        let devices = try await report(of: Routes.listBroadcasts).broadcasts.map(\.device)
        if devices.contains(Self.defaultDevice) { return Self.defaultDevice }
        guard devices.count == 1, let device = devices.first else {
            throw RelayError(
                .badArgument,
                "the relay has several devices and none is called \(Self.defaultDevice): name one of "
                    + devices.joined(separator: ", ")
            )
        }
        return device
    }
}

/// A relay's answer whose body is a stream.
package struct StreamedAnswer: Sendable {
    package let status: Int
    private let headers: HTTPHeaders
    package let body: AnswerBody

    init(status: Int, headers: HTTPHeaders, body: AnswerBody) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Returns a field of the head.
    package func header(_ name: String) -> String? { headers.first(name: name) }
}
