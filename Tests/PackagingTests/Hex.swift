extension Sequence<UInt8> {
    var hex: String {
        map { byte in String(byte, radix: 16).count == 1 ? "0\(String(byte, radix: 16))" : String(byte, radix: 16) }
            .joined()
    }
}

extension [UInt8] {
    /// Parses bytes written as hexadecimal digits. White space, and `//` up to the end of a line, are ignored.
    init(hex: String) {
        let lines = hex.split(separator: "\n").map {
            $0.prefix(upTo: $0.firstRange(of: "//")?.lowerBound ?? $0.endIndex)
        }
        let digits = lines.joined().filter { !$0.isWhitespace }.compactMap { UInt8(String($0), radix: 16) }
        precondition(digits.count % 2 == 0)
        self = Swift.stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
