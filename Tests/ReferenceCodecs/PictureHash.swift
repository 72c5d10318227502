/// A hash of a picture's planes: MurmurHash3 with 128 bits, as in libavutil, so that the line equals that of ffmpeg's
/// `-f framehash -hash murmur3`.
struct PictureHash {
    private static let (seed, first, second): (UInt64, UInt64, UInt64) =
        (0x725A_CC55_DADD_CA55, 0x87C3_7B91_1142_53D5, 0x4CF5_AD43_2745_937F)

    /// Rows without gaps, plane after plane.
    private var bytes: [UInt8] = []

    mutating func add(_ plane: UnsafePointer<UInt8>, rowBytes: Int, rows: Int, stride: Int) {
        for row in 0..<rows { bytes += UnsafeBufferPointer(start: plane + row * stride, count: rowBytes) }
    }

    func printLine() {
        var (high, low) = (Self.seed, Self.seed)
        let blocks = bytes.count / 16
        bytes.withUnsafeBytes { memory in
            for block in 0..<blocks {
                let offset = 16 * block
                high = Self.rotated(high ^ Self.one(memory.loadUnaligned(fromByteOffset: offset, as: UInt64.self)), 27)
                high = (high &+ low) &* 5 &+ 0x52DC_E729
                low = Self.rotated(
                    low ^ Self.other(memory.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)),
                    31
                )
                low = (low &+ high) &* 5 &+ 0x3849_5AB5
            }
        }
        let rest = bytes[(16 * blocks)...] + repeatElement(0, count: 16)
        high ^= Self.one(Self.word(rest.prefix(8))) ^ UInt64(bytes.count)
        low ^= Self.other(Self.word(rest.dropFirst(8).prefix(8))) ^ UInt64(bytes.count)
        high = high &+ low
        low = low &+ high
        (high, low) = (Self.mixed(high), Self.mixed(low))
        high = high &+ low
        low = low &+ high
        print([high, low].map(Self.hex).joined())
    }

    private static func one(_ word: UInt64) -> UInt64 { rotated(word &* first, 31) &* second }

    private static func other(_ word: UInt64) -> UInt64 { rotated(word &* second, 33) &* first }

    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }

    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = (word ^ word >> 33) &* 0xFF51_AFD7_ED55_8CCD
        word = (word ^ word >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return word ^ word >> 33
    }

    /// Bytes as a number, lowest first.
    private static func word(_ bytes: some Collection<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The number's bytes, lowest first, in hexadecimal digits.
    private static func hex(_ word: UInt64) -> String {
        let digits = String(word.byteSwapped, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
