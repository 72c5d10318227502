/// Makes random inputs from a corpus, the same ones for the same seed.
package struct Mutator {
    /// The longest input, in bytes.
    private static let longest = 8 << 10

    private let corpus: [[UInt8]]
    private let words: [[UInt8]]

    package init(corpus: [[UInt8]], words: [String]) {
        self.corpus = corpus
        self.words = words.map { Array($0.utf8) }
    }

    package func input(by generator: inout some RandomNumberGenerator) -> [UInt8] {
        var input = corpus.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 1...6, using: &generator) { change(&input, by: &generator) }
        return Array(input.prefix(Self.longest))
    }

    private func change(_ input: inout [UInt8], by generator: inout some RandomNumberGenerator) {
        let place = Int.random(in: 0...input.count, using: &generator)
        let end = min(input.count, place + Int.random(in: 1...16, using: &generator))
        switch Int.random(in: 0..<9, using: &generator) {
        case 0 where place < end: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1 where place < end: input[place] = .random(in: .min ... .max, using: &generator)
        case 2 where place < end: input[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
        case 3: input.removeSubrange(place..<end)
        case 4: input.insert(contentsOf: input[place..<end], at: place)
        case 5: input.insert(.random(in: .min ... .max, using: &generator), at: place)
        case 6: input.replaceSubrange(place..<end, with: words.randomElement(using: &generator) ?? [])
        case 7: input.insert(contentsOf: words.randomElement(using: &generator) ?? [0], at: place)
        case 8:
            // The end of another, from anywhere in it.
            let other = corpus.randomElement(using: &generator) ?? []
            input = Array(input[..<place]) + other.dropFirst(Int.random(in: 0...other.count, using: &generator))
        default: input.removeLast(min(input.count, 1))
        }
    }
}
