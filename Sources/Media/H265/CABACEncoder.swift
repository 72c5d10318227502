/// An encoder for context-based adaptive binary arithmetic coding, H.265 9.3. It mirrors the decoder of 9.3.4.3.
struct CABACEncoder {
    /// A context variable: the more likely value, and how likely it is.
    struct Context {
        fileprivate var state: Int
        fileprivate var likely: Bool

        /// - Parameters:
        ///   - initValue: From tables 9-5 to 9-37.
        ///   - qp: `SliceQpY`, 0 to 51.
        init(initValue: Int, qp: Int) {
            // 9.3.2.2
            let slope = (initValue >> 4) * 5 - 45
            let offset = (initValue & 15) << 3 - 16
            let start = min(126, max(1, (slope * qp) >> 4 + offset))
            likely = start > 63
            state = likely ? start - 64 : 63 - start
        }
    }

    private var writer = BitWriter()
    private var (low, range) = (0, 510)
    /// The number of bits whose value depends on the next other bit.
    private var outstanding = 0
    private var isFirst = true

    /// Encodes `value` with `context`, which adapts (9.3.4.3.2).
    mutating func encode(_ value: Bool, in context: inout Context) {
        let row = Self.leastLikelyRange[context.state]
        let part = [row.0, row.1, row.2, row.3][range >> 6 & 3]
        range -= part
        if value == context.likely {
            context.state = min(context.state + 1, 62)
        } else {
            low += range
            range = part
            if context.state == 0 { context.likely.toggle() }
            context.state = Self.nextStateIfUnlikely[context.state]
        }
        renormalize()
    }

    /// Encodes `end_of_slice_segment_flag` (9.3.4.3.5).
    mutating func encodeEnd(_ isEnd: Bool) {
        range -= 2
        if isEnd {
            low += range
            range = 2
        }
        renormalize()
    }

    /// Returns the bytes after the end was encoded. The last bit is the stop bit of `rbsp_slice_segment_trailing_bits(
    /// )`.
    consuming func finish() -> [UInt8] {
        put(low >> 9 & 1)
        writer.u(2, low >> 7 & 3 | 1)
        writer.align()
        return writer.bytes
    }

    private mutating func renormalize() {
        while range < 256 {
            if low < 256 {
                put(0)
            } else if low >= 512 {
                low -= 512
                put(1)
            } else {
                low -= 256
                outstanding += 1
            }
            range <<= 1
            low <<= 1
        }
    }

    private mutating func put(_ bit: Int) {
        // The first bit is always 0 and not part of the stream.
        if isFirst { isFirst = false } else { writer.u(1, bit) }
        for _ in 0..<outstanding { writer.u(1, 1 - bit) }
        outstanding = 0
    }

    /// `rangeTabLps` by `pStateIdx` and `qRangeIdx` (9.3.4.3.2.1).
    private static let leastLikelyRange: [(Int, Int, Int, Int)] = [
        (128, 176, 208, 240), (128, 167, 197, 227), (128, 158, 187, 216), (123, 150, 178, 205),
        (116, 142, 169, 195), (111, 135, 160, 185), (105, 128, 152, 175), (100, 122, 144, 166),
        (95, 116, 137, 158), (90, 110, 130, 150), (85, 104, 123, 142), (81, 99, 117, 135),
        (77, 94, 111, 128), (73, 89, 105, 122), (69, 85, 100, 116), (66, 80, 95, 110),
        (62, 76, 90, 104), (59, 72, 86, 99), (56, 69, 81, 94), (53, 65, 77, 89),
        (51, 62, 73, 85), (48, 59, 69, 80), (46, 56, 66, 76), (43, 53, 63, 72),
        (41, 50, 59, 69), (39, 48, 56, 65), (37, 45, 54, 62), (35, 43, 51, 59),
        (33, 41, 48, 56), (32, 39, 46, 53), (30, 37, 43, 50), (29, 35, 41, 48),
        (27, 33, 39, 45), (26, 31, 37, 43), (24, 30, 35, 41), (23, 28, 33, 39),
        (22, 27, 32, 37), (21, 26, 30, 35), (20, 24, 29, 33), (19, 23, 27, 31),
        (18, 22, 26, 30), (17, 21, 25, 28), (16, 20, 23, 27), (15, 19, 22, 25),
        (14, 18, 21, 24), (14, 17, 20, 23), (13, 16, 19, 22), (12, 15, 18, 21),
        (12, 14, 17, 20), (11, 14, 16, 19), (11, 13, 15, 18), (10, 12, 15, 17),
        (10, 12, 14, 16), (9, 11, 13, 15), (9, 11, 12, 14), (8, 10, 12, 14),
        (8, 9, 11, 13), (7, 9, 11, 12), (7, 9, 10, 12), (7, 8, 10, 11),
        (6, 8, 9, 11), (6, 7, 9, 10), (6, 7, 8, 9), (2, 2, 2, 2),
    ]

    /// `transIdxLps` (9.3.4.3.2.2).
    private static let nextStateIfUnlikely = [
        0, 0, 1, 2, 2, 4, 4, 5, 6, 7, 8, 9, 9, 11, 11, 12,
        13, 13, 15, 15, 16, 16, 18, 18, 19, 19, 21, 21, 22, 22, 23, 24,
        24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30, 31, 32, 32, 33,
        33, 33, 34, 34, 35, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38, 63,
    ]
}
