import Fuzzing
import TestSupport
import Testing

@Suite("Whatever bytes come")
struct FuzzTests {
    @Test("stored inputs cause no failure", arguments: FuzzTarget.all)
    func corpus(_ target: FuzzTarget) throws {
        let inputs = try Corpus.inputs(of: target)
        #expect(!inputs.isEmpty)
        for input in inputs {
            #expect(throws: Never.self, "\(target)/\(input.name)") { try target.check(input.bytes) }
        }
    }

    @Test("mutated inputs cause no failure", arguments: FuzzTarget.all)
    func mutations(_ target: FuzzTarget) throws {
        let mutator = Mutator(corpus: try Corpus.inputs(of: target).map(\.bytes), words: target.words)
        for seed in 0..<2000 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let input = mutator.input(by: &generator)
            #expect(throws: Never.self, "\(target), seed \(seed): \(input)") { try target.check(input) }
        }
    }
}
