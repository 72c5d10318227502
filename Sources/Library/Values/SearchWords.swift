/// The words of a text, for the search.
///
/// A word is a run of letters, digits and combining marks, in lower case. Its first ``longest`` characters count. A
/// query's word matches every word that begins with it. Everything else, such as quotes and operators, only separates
/// words, so that a query has no syntax.
enum SearchWords {
    /// The significant characters of a word. The index has the beginnings of all lengths below.
    static let longest = 12
    /// The most words of a query. Further ones are ignored.
    static let mostInQuery = 8

    /// Returns the words in order, with repetitions.
    static func words(of text: String) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        for scalar in text.lowercased().unicodeScalars {
            if isPart(scalar) {
                if word.count < longest { word.append(scalar) }
            } else if !word.isEmpty {
                words.append(String(word))
                word = String.UnicodeScalarView()
            }
        }
        if !word.isEmpty { words.append(String(word)) }
        return words
    }

    /// Returns the distinct words of a query, the longest first, because they tend to be the rarest.
    static func query(_ text: String) -> [String] {
        var needed: [String] = []
        for word in Set(words(of: text)).sorted(by: { ($0.utf8.count, $1) > ($1.utf8.count, $0) }) {
            guard needed.count < mostInQuery else { break }
            // A word that begins another one adds nothing.
            if !needed.contains(where: { $0.utf8.starts(with: word.utf8) }) { needed.append(word) }
        }
        return needed
    }

    /// Returns the indexed text of an item: its distinct words, each after a space.
    static func document(_ facts: ItemFacts) -> String {
        var texts = [facts.device]
        if let name = facts.sessionName { texts.append(name) }
        for (name, value) in facts.labels { texts += [name, value] }
        return Set(texts.flatMap(words(of:))).sorted().reduce(into: "") { $0 += " " + $1 }
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
            return true
        default: return false
        }
    }
}
