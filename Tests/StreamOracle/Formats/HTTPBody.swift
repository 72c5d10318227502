/// The answer to a call whose body lasts as long as the stream.
package struct HTTPBody: Sendable {
    /// The answer's status; 0 if there was none.
    package let status: Int
    package let bytes: [UInt8]
    /// Whether the relay ended the body cleanly.
    package let isWhole: Bool

    /// - Parameter answer: All bytes of the connection.
    package init(_ answer: [UInt8]) {
        let end: [UInt8] = [13, 10, 13, 10]
        let head = answer.indices.first { answer[$0...].starts(with: end) } ?? answer.count
        let text = String(decoding: answer[..<head], as: UTF8.self).lowercased()
        status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        let body = Array(answer.dropFirst(head + end.count))
        guard text.contains("transfer-encoding: chunked") else {
            (bytes, isWhole) = (body, false)
            return
        }
        var (rest, contents, isEnded) = (Bytes(body), [UInt8](), false)
        while !isEnded {
            var size = 0
            while let byte = rest.number(1), byte != 13 {
                size = size << 4 | (Int(String(UnicodeScalar(UInt8(byte))), radix: 16) ?? 0)
            }
            guard rest.take(1) != nil else { break }
            isEnded = size == 0
            // A chunk that the end cuts off counts with the bytes it has.
            contents += rest.take(size) ?? rest.rest()
            guard rest.take(2) != nil else { break }
        }
        (bytes, isWhole) = (contents, isEnded)
    }
}
