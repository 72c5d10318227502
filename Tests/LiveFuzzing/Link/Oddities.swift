import TestSupport

/// Odd values in the fields of ACCESS_UNIT packets (docs/reference/wire.md).
struct Oddities {
    /// The offsets in the packet, and the sizes in bytes, of PTS, capture, start and end of encoding, request, flags,
    /// orientation, width, height and reserved.
    private static let fields = [
        (16, 8), (24, 8), (32, 8), (40, 8), (48, 4), (52, 1), (53, 1), (54, 2), (56, 2), (58, 2),
    ]
    /// Offsets of fields for which some values end the link.
    private static let fatal: Set<Int> = [53, 54, 56]

    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func apply(to packet: inout [UInt8]) {
        for _ in 0..<random.int(in: 0...3) {
            let (offset, count) = random.pick(Self.fields)
            // Values that end the link are used for few packets.
            if Self.fatal.contains(offset), random.chance(0.9) { continue }
            // The keyframe flag must match the ledger.
            let isKey = packet[52] & 1
            let value = random.extreme()
            for place in 0..<count {
                packet[offset + place] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - place)))
            }
            packet[52] = packet[52] & ~1 | isKey
        }
    }
}
