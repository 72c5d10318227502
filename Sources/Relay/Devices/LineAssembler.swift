/// Splits bytes into lines of bounded length. It drops what exceeds the limit, so that a noisy child costs no memory.
package struct LineAssembler: Sendable {
    /// Most bytes kept of one line.
    private let limit: Int
    private var line: [UInt8] = []

    package init(limit: Int) { self.limit = limit }

    /// Returns the lines that `bytes` completes, except empty ones.
    package mutating func append(_ bytes: some Sequence<UInt8>) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if let text = finish() { lines.append(text) }
            } else if line.count < limit {
                line.append(byte)
            }
        }
        return lines
    }

    /// Returns the last line if it has no line end; `nil` if there is none.
    package mutating func finish() -> String? {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { _ = line.popLast() }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
}
