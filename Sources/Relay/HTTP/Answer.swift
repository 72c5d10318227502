import HTTPTypes
import HeliographAPI
import Hummingbird

/// Makes responses.
enum Answer {
    /// Encodes a report, which takes too long for the media loop.
    static func json(_ report: some APIModel, status: Int = 200) throws -> Response {
        response(try JSONValue(encoding: report), status: status, type: "application/json", headers: [:])
    }

    static func problem(_ problem: Problem) -> Response {
        response(problem.body, status: problem.status, type: "application/problem+json", headers: problem.headers)
    }

    static func bytes(_ bytes: ByteBuffer, type: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: type, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: bytes)
        )
    }

    private static func response(_ value: JSONValue, status: Int, type: String, headers: HTTPFields) -> Response {
        var headers = headers
        headers[.contentType] = type
        headers[.cacheControl] = "no-store"
        // The line feed is for people who read answers in a terminal.
        let body = ByteBuffer(string: value.text + "\n")
        return Response(
            status: HTTPResponse.Status(code: status),
            headers: headers,
            body: ResponseBody(byteBuffer: body)
        )
    }
}
