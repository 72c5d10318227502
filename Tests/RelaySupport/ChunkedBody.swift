/// An HTTP response with a chunked body, read as it arrives.
package struct ChunkedBody {
    private var rest: [UInt8]

    /// - Returns: `nil` unless the response's head is complete.
    package init?(_ response: [UInt8]) {
        guard let end = response.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        rest = Array(response[end.upperBound...])
    }

    /// Returns the bytes of the body that have arrived since the last call.
    package mutating func read() -> [UInt8] {
        var body: [UInt8] = []
        while let line = rest.firstRange(of: Array("\r\n".utf8)),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), size > 0
        {
            body += rest[line.upperBound...].prefix(size)
            rest = Array(rest[line.upperBound...].dropFirst(size + 2))
        }
        return body
    }
}
