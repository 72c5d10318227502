import HTTPTypes
import Hummingbird

/// Makes responses.
enum Answer {
    static func json(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
        response(value, status: status, type: "application/json", headers: [:])
    }

    static func problem(_ problem: Problem) -> Response {
        response(
            problem.body,
            status: HTTPResponse.Status(code: problem.status),
            type: "application/problem+json",
            headers: problem.headers
        )
    }

    static func text(_ text: String, type: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    private static func response(
        _ value: JSONValue,
        status: HTTPResponse.Status,
        type: String,
        headers: HTTPFields
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        headers[.cacheControl] = "no-store"
        // The line end is for those who read answers in a terminal.
        let body = ByteBuffer(string: value.text + "\n")
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}
