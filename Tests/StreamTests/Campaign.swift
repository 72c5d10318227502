import Foundation
import Media
import TestSupport
import Testing

/// Random mixes of a source stream, decoded and compared picture by picture.
enum Campaign {
    /// Runs per source stream: a few, or `HELIOGRAPH_REPEAT_RUNS`; a tenth for large pictures.
    private static let runs = wantedRuns ?? 20
    private static let wantedRuns = ProcessInfo.processInfo.environment["HELIOGRAPH_REPEAT_RUNS"].flatMap(Int.init)
    private static let largePicture = 640 * 480
    /// Runs that are decoded at once.
    private static let batch = 100

    /// - Parameter decoders: Those that know the stream's profile.
    static func run(_ settings: SourceSettings, by decoders: [PictureDecoder] = PictureDecoder.allCases) throws {
        let source = try SourceStream(settings)
        try #require(source.accessUnits.count == settings.pictures)
        let original = try decoders.map { try $0.hashes(of: source.accessUnits, codec: source.codec) }
        #expect(Set(original).count == 1, "\(settings.name): the decoders' pictures differ")
        let isLarge = settings.size.width * settings.size.height > largePicture
        let runs = isLarge ? max(4, runs / 10) : runs
        for start in stride(from: 0, to: runs, by: batch) {
            let seed = settings.name.utf8.reduce(UInt64(start)) { $0 &* 31 &+ UInt64($1) }
            let mix = try RandomMix(of: source, runs: min(batch, runs - start), seed: seed)
            #expect(mix.stream.admission == .admitted)
            #expect(mix.skips > 0 && mix.resent > 0 && (isLarge || mix.rests > 0))
            if wantedRuns != nil {
                print(
                    "\(settings.name): \(mix.sent.count) pictures, \(mix.skips) repeats, \(mix.resent) keyframes again, \(mix.rests) rests"
                )
            }
            for (decoder, hashes) in zip(decoders, original) {
                #expect(hashes.count == source.accessUnits.count)
                let expected = mix.shown.map { hashes[$0] }
                let found = try decoder.hashes(of: mix.sent, codec: source.codec)
                expectEqual(found, expected, "\(settings.name), \(decoder), seed \(seed)")
                // A viewer that joins at a live or repeated keyframe.
                var generator = SeededGenerator(seed: seed)
                let join = try #require(mix.keyframes.randomElement(using: &generator))
                let joined = try decoder.hashes(of: mix.sent[join...], codec: source.codec)
                expectEqual(joined, Array(expected[join...]), "\(settings.name), \(decoder), joined at \(join)")
                // A recording; with the longer interval it keeps some keyframes that are sent again.
                for interval: Int64 in [33_333, 40_000_000] {
                    let kept = mix.elided(interval: interval)
                    #expect(kept.count < mix.sent.count && kept == kept.sorted())
                    let recorded = try decoder.hashes(of: kept.map { mix.sent[$0] }, codec: source.codec)
                    let what = "\(settings.name), \(decoder), seed \(seed), recorded"
                    expectEqual(recorded, kept.map { expected[$0] }, what)
                    // At any time it shows what the stream shows.
                    var places = kept[...]
                    let shown = expected.indices.map { index in
                        while let next = places.dropFirst().first, next <= index { places.removeFirst() }
                        return places.first.map { expected[$0] } ?? ""
                    }
                    expectEqual(shown, expected, "\(what), in time")
                }
            }
        }
    }

    private static func expectEqual(_ found: [String], _ expected: [String], _ what: String) {
        let difference = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        #expect(found.count == expected.count, "\(what)")
        #expect(difference == nil, "\(what): picture \(difference ?? 0) of \(expected.count) differs")
    }
}
