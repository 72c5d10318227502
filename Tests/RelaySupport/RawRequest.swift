import HeliographAPI
import Relay

/// Requests as bytes, and their answers, for requests that no HTTP client would send.
package struct RawRequest: Sendable {
    /// An answer's status, head and body.
    package struct Answer: Sendable {
        package let status: Int
        package let head: String
        package let body: [UInt8]

        /// A problem's code.
        package var code: String? {
            guard case .string(let code)? = (try? JSONValue(parsing: body))?["code"] else { return nil }
            return code
        }
    }

    package let bytes: [UInt8]

    package init(_ lines: String..., body: String = "") {
        bytes = Array((lines + ["Host: localhost", "", body]).joined(separator: "\r\n").utf8)
    }

    /// Sends it and reads the answer, which must state its length; returns `nil` if the connection ends before a
    /// complete one.
    package func ask(_ client: ByteClient) async throws -> Answer? {
        try await client.send(bytes)
        return try await Self.answer(from: client)
    }

    package static func answer(from client: ByteClient) async throws -> Answer? {
        var bytes: [UInt8] = []
        while let more = try await client.next() {
            bytes += more
            if let answer = answer(in: bytes) { return answer }
        }
        return nil
    }

    private static func answer(in bytes: [UInt8]) -> Answer? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        let words = head.split(separator: " ", maxSplits: 2)
        let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
        guard words.count > 1, let status = Int(words[1]),
            let count = length.flatMap({ Int($0.dropFirst("content-length:".count).drop { $0 == " " }) }),
            bytes.count >= end.upperBound + count
        else { return nil }
        return Answer(status: status, head: head, body: Array(bytes[end.upperBound..<(end.upperBound + count)]))
    }
}
