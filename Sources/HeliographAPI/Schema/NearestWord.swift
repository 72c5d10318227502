/// Finds the allowed word that a mistyped one probably stands for.
package enum NearestWord {
    /// Longest word that is compared, in bytes of UTF-8.
    private static let longest = 64
    /// Most typing errors that a suggestion may assume.
    private static let farthest = 2

    /// Returns the word in `words` with the fewest typing errors, or `nil` if none is near; the first of equal ones.
    ///
    /// A word is near if at most two errors explain the difference, and fewer than half of the characters are wrong.
    /// Case does not count.
    package static func of(_ text: String, among words: some Sequence<String>) -> String? {
        guard text.utf8.count <= longest else { return nil }
        let typed = Array(text.lowercased().unicodeScalars)
        var nearest: (word: String, distance: Int)?
        for word in words where word != text && word.utf8.count <= longest {
            let distance = distance(typed, Array(word.lowercased().unicodeScalars))
            guard distance <= farthest, distance &* 2 < typed.count else { continue }
            if nearest.map({ distance < $0.distance }) ?? true { nearest = (word, distance) }
        }
        return nearest?.word
    }

    /// Returns a question with a space before it, ` Did you mean 'timeout'?`, or an empty string if no word is near.
    package static func question(for text: String, among words: some Sequence<String>) -> String {
        of(text, among: words).map { " Did you mean '\($0)'?" } ?? ""
    }

    /// Returns the Damerau-Levenshtein distance: how many insertions, deletions, substitutions and swaps of neighbours
    /// turn one word into the other.
    private static func distance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
        // Rows of the usual table: the newest one, and the one above it.
        var row = [0]
        var rowAbove: [Int] = []
        for _ in other { row.append(row.count) }
        var former: Unicode.Scalar?
        for scalar in one {
            var left = (row.first ?? 0) &+ 1
            var next = [left]
            var swaps = rowAbove.makeIterator()
            var formerOther: Unicode.Scalar?
            for ((diagonal, above), otherScalar) in zip(zip(row, row.dropFirst()), other) {
                left = min(left &+ 1, above &+ 1, scalar == otherScalar ? diagonal : diagonal &+ 1)
                // The iterator is two columns behind: its element is the distance before the swapped pair.
                if formerOther != nil, let swapped = swaps.next(), scalar == formerOther, former == otherScalar {
                    left = min(left, swapped &+ 1)
                }
                next.append(left)
                formerOther = otherScalar
            }
            (rowAbove, row, former) = (row, next, scalar)
        }
        return row.last ?? 0
    }
}
