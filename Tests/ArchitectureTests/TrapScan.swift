/// The application of ``TrapScanner``'s rules to one file.
struct TrapScan {
    private typealias Rule = TrapScanner.Rule

    private static let asserting: Set = [
        "precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError", "unowned",
        "uniqueKeysWithValues",
    ]
    private static let pointing: Set = [
        "load", "loadUnaligned", "storeBytes", "unsafeBitCast", "baseAddress", "pointee", "bindMemory",
        "assumingMemoryBound",
    ]
    private static let integers: Set = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    ]
    private static let arithmetic: Set = ["+", "-", "*", "/", "%", "+=", "-=", "*=", "/=", "%="]
    /// Labels of a number of elements, and labels of a position.
    private static let counting: Set = ["prefix", "suffix", "dropFirst", "dropLast"]
    private static let placing: Set = [
        "removeFirst", "removeLast", "removeSubrange", "replaceSubrange", "swapAt", "index", "formIndex",
    ]

    private let tokens: [SourceToken]
    private let names: DeclaredNames
    /// The lines of static constants, which no input reaches.
    private let constants: Set<Int>

    /// Members that are not arrays: every key has a value or none.
    private static let keyedMembers: Set = ["packaged", "sessions"]

    init(_ tokens: [SourceToken]) {
        self.tokens = tokens
        names = DeclaredNames(in: tokens, keyed: Self.keyedMembers)
        constants = Set(
            tokens.indices.filter { tokens[$0].text == "static" && tokens[min($0 + 1, tokens.count - 1)].text == "let" }
                .map { tokens[$0].line }
        )
    }

    var findings: [(rule: TrapScanner.Rule, line: Int)] {
        tokens.indices.compactMap { place in rule(brokenAt: place).map { ($0, tokens[place].line) } }
    }

    private func token(_ place: Int) -> SourceToken? { tokens.indices.contains(place) ? tokens[place] : nil }
    private func text(_ place: Int) -> String { token(place)?.text ?? "" }
    private func isNumber(_ place: Int) -> Bool { token(place)?.kind == .number }
    private func isLiteral(_ place: Int) -> Bool { isNumber(place) || token(place)?.kind == .string }

    private func rule(brokenAt place: Int) -> Rule? {
        let token = tokens[place]
        switch (token.kind, token.text) {
        case (.number, _), (.string, _): return nil
        case (.word, let word): return rule(brokenBy: word, at: place)
        case (.sign, "!"): return place > 0 && !token.isAfterSpace && !isOpening(place - 1) ? .forced : nil
        case (.sign, "["): return isSubscript(place) ? .subscript : nil
        case (.sign, "..."), (.sign, "..<"): return isInfix(place) && !isSoundRange(place) ? .range : nil
        case (.sign, let sign): return Self.arithmetic.contains(sign) && mayOverflow(place) ? .arithmetic : nil
        }
    }

    // MARK: Words

    private func rule(brokenBy word: String, at place: Int) -> Rule? {
        if Self.asserting.contains(word) { return .asserted }
        if word.hasPrefix("Unsafe") || Self.pointing.contains(word) { return .unchecked }
        guard text(place + 1) == "(", token(place)?.isBeforeSpace == false, text(place - 1) != "func" else {
            return nil
        }
        if Self.integers.contains(word) { return isSoundConversion(place + 2) ? nil : .conversion }
        if word == "repeatElement" || text(place + 2) == "repeating" {
            return isSoundRepetition(place + 1) ? nil : .call
        }
        guard text(place - 1) == "." || text(place - 1) == "?" else { return nil }
        if Self.placing.contains(word) { return .call }
        if Self.counting.contains(word) { return isSoundCount(place + 2) ? nil : .call }
        return (word == "remove" || word == "insert") && hasLabel("at", inCallAt: place + 1) ? .call : nil
    }

    /// - Parameter argument: The position of the first argument.
    private func isSoundConversion(_ argument: Int) -> Bool {
        // A label selects another initializer; one with a radix parses text.
        if text(argument + 1) == ":" || hasLabel("radix", inCallAt: argument - 1) { return true }
        let number = text(argument) == "-" ? argument + 1 : argument
        if isNumber(number), text(number + 1) == ")" { return true }
        // A count is never negative.
        let end = closing(argument - 1)
        let isWide = ["Int", "Int64", "UInt", "UInt64"].contains(text(argument - 2))
        if isWide, text(end - 2) == ".", ["count", "byteCount"].contains(text(end - 1)) { return true }
        return Self.integers.contains(text(argument)) && ["max", "min"].contains(text(argument + 2))
    }

    private func isSoundCount(_ argument: Int) -> Bool {
        if text(argument) == ")" || text(argument) == "while" { return true }
        let end = closing(argument - 1)
        if end == argument + 1 { return isNumber(argument) }
        // A collection's count, or a constant of a type.
        return text(end - 2) == "." && text(end - 1) == "count"
            || end == argument + 3 && text(argument).first?.isUppercase == true
    }

    /// - Parameter open: The bracket of a call with the label `count`.
    private func isSoundRepetition(_ open: Int) -> Bool {
        guard let label = (open..<closing(open)).first(where: { text($0) == "count" && text($0 + 1) == ":" }) else {
            return true
        }
        if isNumber(label + 2) || text(label + 2) == "max" && text(label + 4) == "0" { return true }
        // A collection's count, or more.
        let end = pathEnd(label + 2)
        return end > label + 2 && text(end) == "count" && [")", ",", "&+"].contains(text(end + 1))
    }

    /// Returns the position of the bracket that closes the one at `open`.
    private func closing(_ open: Int) -> Int {
        var depth = 0
        for place in open..<tokens.count where tokens[place].kind == .sign {
            if "([{".contains(text(place)) { depth += 1 }
            if ")]}".contains(text(place)) { depth -= 1 }
            if depth == 0 { return place }
        }
        return tokens.count
    }

    /// Returns the position of the last name in a path such as `a.b.c`, which starts at `start`.
    private func pathEnd(_ start: Int) -> Int {
        var end = start
        while text(end + 1) == ".", token(end + 2)?.kind == .word { end += 2 }
        return end
    }

    private func hasLabel(_ label: String, inCallAt open: Int) -> Bool {
        (open..<closing(open)).contains {
            text($0) == label && text($0 + 1) == ":" && (text($0 - 1) == "(" || text($0 - 1) == ",")
        }
    }

    // MARK: Signs

    private func isOpening(_ place: Int) -> Bool {
        token(place)?.kind != .string && ["(", "[", "{", ",", ";", ":", ""].contains(text(place))
    }

    private func isInfix(_ place: Int) -> Bool {
        let ends = ["", ")", "]", "}", ",", ":", ";"]
        guard place > 0, !isOpening(place - 1), token(place + 1)?.kind == .string || !ends.contains(text(place + 1))
        else { return false }
        return tokens[place].isAfterSpace == tokens[place].isBeforeSpace
    }

    private func isSubscript(_ place: Int) -> Bool {
        guard let base = token(place - 1), !tokens[place].isAfterSpace else { return false }
        switch base.kind {
        case .number: return false
        case .string: break
        case .word: if names.isKeyed(base.text) { return false }
        case .sign: guard [")", "]", "?", "!"].contains(base.text) else { return false }
        }
        if token(place + 1)?.kind == .string || text(place + 1) == "..." { return text(place + 2) != "]" }
        return text(place + 1) != "." && text(place + 2) != ":"
    }

    private func mayOverflow(_ place: Int) -> Bool {
        let sign = text(place)
        guard text(place - 1) != "func", !constants.contains(tokens[place].line) else { return false }
        guard isInfix(place) else {
            // A sign before a literal is part of it.
            return sign == "-" && !tokens[place].isBeforeSpace && !isNumber(place + 1)
        }
        // Texts and lists are concatenated.
        if token(place - 1)?.kind == .string || token(place + 1)?.kind == .string || text(place + 1) == "[" {
            return false
        }
        if sign.hasPrefix("+"), names.isList(text(place - 1)) || names.isList(text(place + 1)) { return false }
        if sign == "-", subtractsPart(place) { return false }
        // Fractions have infinities instead.
        if names.isFraction(text(place - 1)) || names.isFraction(text(place + 1)) || text(place + 1) == "Double" {
            return false
        }
        if "/%".contains(sign.prefix(1)) { return !isNumber(place + 1) || text(place + 1) == "0" }
        return !(isNumber(place - 1) && isNumber(place + 1))
    }

    /// Returns whether it is `a - min(…)` with `a` itself as an argument, the safe way to subtract unsigned numbers.
    private func subtractsPart(_ place: Int) -> Bool {
        guard text(place + 1) == "min", text(place + 2) == "(" else { return false }
        var start = place - 1
        while text(start - 1) == ".", token(start - 2)?.kind == .word { start -= 2 }
        let whole = (start..<place).map(text).joined()
        let arguments = (place + 3..<closing(place + 2)).map(text).joined().split(separator: ",")
        return arguments.contains { $0 == whole }
    }

    /// Returns whether the bounds are literals, constants of types, or 0 and a collection's count.
    private func isSoundRange(_ place: Int) -> Bool {
        if text(place - 1) == "min", text(place + 1) == ".", text(place + 2) == "max" { return true }
        let begins = isLiteral(place - 1) || text(place - 1) == ")" && text(place - 4) == "ascii"
        if isLiteral(place + 1) || text(place + 3) == "ascii" { return begins }
        let end = pathEnd(place + 1)
        guard end > place + 1, text(end + 1) != "(" else { return false }
        if text(place + 1).first?.isUppercase == true { return begins }
        return text(place) == "..<" && text(place - 1) == "0" && text(end) == "count"
    }
}
