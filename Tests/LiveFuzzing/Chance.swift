extension RandomNumberGenerator {
    /// Returns `true` in this share of all cases.
    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[int(in: 0...(values.count - 1))] }

    mutating func int(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    /// Returns a number at which arithmetic often fails.
    mutating func extreme() -> UInt64 {
        let near = UInt64(int(in: 0...3))
        return pick([
            near, .max - near, UInt64(Int64.max) - near, UInt64(Int64.max) + near, UInt64(UInt32.max) - near,
            UInt64(UInt32.max) + near, 1 << 62 - near, 1 << 62 + near, 1 << UInt64(int(in: 0...63)), next(),
        ])
    }
}
