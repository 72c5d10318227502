import Media
import TestSupport
import Testing

/// Tests of streams that no encoder makes.
@Suite("Repeats in damaged streams")
struct HostileTests {
    @Test("damage ends in a refusal or in bytes, never in a trap", arguments: RefusalTests.admitted)
    func damaged(_ settings: SourceSettings) throws {
        let source = try SourceStream(settings)
        var admitted = 0
        for seed in 0..<3000 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var stream = RepeatableStream(codec: source.codec)
            for unit in source.accessUnits[2...14] {
                let damaged = Int.random(in: 0...3, using: &generator) == 0 ? damage(unit, &generator) : unit
                _ = try? stream.live(damaged)
                _ = stream.skip()
                _ = stream.resendKeyframe()
            }
            if stream.admission == .admitted { admitted += 1 }
        }
        // Damage after the headers is the decoder's concern; both kinds of outcome must have occurred.
        #expect(admitted > 0 && admitted < 3000)
    }

    /// `unit` with some bits flipped, bytes lost, doubled or cut off, mostly near its head, where parameter sets and
    /// headers are.
    private func damage(_ unit: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var unit = unit
        for _ in 0..<Int.random(in: 1...4, using: &generator) where unit.count > 8 {
            let place = Int.random(in: 0..<min(unit.count, 80), using: &generator)
            switch Int.random(in: 0...5, using: &generator) {
            case 0: unit.remove(at: place)
            case 1: unit.insert(unit[place], at: place)
            case 2: unit[place] = [0, 1, 0xFF].randomElement(using: &generator) ?? 0
            case 3: unit.removeSubrange(place...)
            default: unit[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            }
        }
        return unit
    }
}
