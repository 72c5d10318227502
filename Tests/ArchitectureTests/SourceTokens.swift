/// One word, number, literal or sign of Swift source. Comments are skipped.
struct SourceToken: Equatable {
    enum Kind {
        /// An identifier or a keyword.
        case word
        case number
        /// A string literal, or a part of one beside an interpolation.
        case string
        /// An operator, a bracket or a separator.
        case sign
    }

    let kind: Kind
    let text: String
    /// The line number, from 1.
    let line: Int
    /// Whether white space, or the file's start or end, comes before and after it.
    var (isAfterSpace, isBeforeSpace): (Bool, Bool)
}

/// Splits Swift source into tokens, including code in string interpolations. It knows as much syntax as ``TrapScanner``
/// needs.
struct SourceTokens {
    private static let signs = Set("+-*/%<>=!&|^~?".unicodeScalars)
    private static let brackets = Set("()[]{},;:@#\\`".unicodeScalars)

    private let source: [Unicode.Scalar]
    private var place = 0
    private var line = 1
    private var tokens: [SourceToken] = []

    private init(_ text: String) { source = Array(text.unicodeScalars) }

    static func all(of text: String) -> [SourceToken] {
        var lexer = SourceTokens(text)
        lexer.readCode(untilBracket: false)
        return lexer.tokens
    }

    private func scalar(_ offset: Int = 0) -> Unicode.Scalar? {
        source.indices.contains(place + offset) ? source[place + offset] : nil
    }

    private func isNext(_ text: String) -> Bool {
        source[place...].starts(with: text.unicodeScalars)
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count {
            if scalar() == "\n" { line += 1 }
            place += 1
        }
    }

    private mutating func append(_ kind: SourceToken.Kind, from start: Int, line: Int) {
        func isSpace(_ place: Int) -> Bool {
            !source.indices.contains(place) || source[place].properties.isWhitespace
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: source[start..<place])
        tokens.append(
            SourceToken(
                kind: kind,
                text: String(text),
                line: line,
                isAfterSpace: isSpace(start - 1),
                isBeforeSpace: isSpace(place)
            )
        )
    }

    /// Reads to the end, or past the bracket that closes an interpolation.
    private mutating func readCode(untilBracket: Bool) {
        var depth = 0
        while let next = scalar() {
            let (start, line) = (place, line)
            if next.properties.isWhitespace {
                advance()
            } else if isNext("//") {
                while let next = scalar(), next != "\n" { advance() }
            } else if isNext("/*") {
                skipBlockComment()
            } else if next == "\"" || next == "#" && isRawString {
                readString()
            } else if next.properties.isXIDContinue || next == "$" || next == "_" {
                let isNumber = ("0"..."9").contains(next)
                while let next = scalar(), isPartOfWord(next, isNumber: isNumber) { advance() }
                append(isNumber ? .number : .word, from: start, line: line)
            } else if Self.brackets.contains(next) {
                if next == "(" { depth += 1 }
                if next == ")" { depth -= 1 }
                advance()
                if untilBracket, depth < 0 { return }
                append(.sign, from: start, line: line)
            } else {
                readOperator(next)
                append(.sign, from: start, line: line)
            }
        }
    }

    private func isPartOfWord(_ next: Unicode.Scalar, isNumber: Bool) -> Bool {
        if next.properties.isXIDContinue || next == "$" || next == "_" { return true }
        // `1.5`, but neither `1...2` nor `1.max`.
        return isNumber && next == "." && scalar(1).map { ("0"..."9").contains($0) } == true
    }

    private mutating func readOperator(_ first: Unicode.Scalar) {
        // After an operand, `!` and `?` are separate signs.
        let follows =
            place > 0 && !source[place - 1].properties.isWhitespace
            && !"([{,;:".unicodeScalars.contains(source[place - 1])
        if first == "!" || first == "?", follows, !Self.signs.contains(source[place - 1]) { return advance() }
        if first == "." {
            guard scalar(1) == "." else { return advance() }
            while let next = scalar(), next == "." || Self.signs.contains(next) { advance() }
            return
        }
        advance()
        while let next = scalar(), Self.signs.contains(next), Self.signs.contains(first) { advance() }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if isNext("/*") {
                depth += 1
                advance(2)
            } else if isNext("*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && scalar() != nil
    }

    private var isRawString: Bool {
        source[place...].first { $0 != "#" } == "\""
    }

    /// Reads a string literal of any kind as one token. If it has interpolations, each one's code comes between two
    /// tokens.
    private mutating func readString() {
        var (start, startLine) = (place, line)
        let pounds = String(repeating: "#", count: source[place...].prefix { $0 == "#" }.count)
        advance(pounds.count)
        let quote = isNext("\"\"\"") ? "\"\"\"" : "\""
        advance(quote.count)
        while scalar() != nil, !isNext(quote + pounds) {
            if isNext("\\\(pounds)(") {
                advance(pounds.count + 2)
                append(.string, from: start, line: startLine)
                readCode(untilBracket: true)
                (start, startLine) = (place, line)
            } else {
                advance(scalar() == "\\" && pounds.isEmpty ? 2 : 1)
            }
        }
        advance(min(quote.count + pounds.count, source.count - place))
        append(.string, from: start, line: startLine)
    }
}
