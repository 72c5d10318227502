/// The names that a file's declarations describe.
struct DeclaredNames {
    private static let integers: Set = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
    ]

    private var (keyed, lists): (Set<String>, Set<String>) = ([], [])
    private var (wholes, fractions): (Set<String>, Set<String>) = ([], [])

    /// - Parameter keyed: Names of members that other files declare, as in ``isKeyed(_:)``.
    init(in tokens: [SourceToken], keyed: Set<String>) {
        self.keyed = keyed
        func text(_ place: Int) -> String { tokens.indices.contains(place) ? tokens[place].text : "" }
        for place in tokens.indices where tokens[place].kind == .word {
            let name = tokens[place].text
            var type = place + 2
            switch text(place + 1) {
            case ":":
                if text(type) == "inout" { type += 1 }
                if Self.integers.contains(text(type)) {
                    wholes.insert(name)
                } else if text(type) == "Double" {
                    fractions.insert(name)
                } else if text(type) == "String" {
                    lists.insert(name)
                } else if text(type) == "[" {
                    if Self.isDictionary(tokens, type) { self.keyed.insert(name) } else { lists.insert(name) }
                }
            case "=" where ["let", "var"].contains(text(place - 1)):
                if text(type) == "EachRole" {
                    self.keyed.insert(name)
                } else if text(type) == "[" || tokens.indices.contains(type) && tokens[type].kind == .string {
                    lists.insert(name)
                } else if tokens.indices.contains(type), tokens[type].kind == .number {
                    wholes.insert(name)
                }
            default: break
            }
        }
    }

    /// Returns whether the file declares the name as a dictionary, or as another collection that is subscripted by
    /// keys.
    func isKeyed(_ name: String) -> Bool { keyed.contains(name) && !lists.contains(name) }

    /// Returns whether the file declares the name as an array or a text, and never as a number.
    func isList(_ name: String) -> Bool { lists.contains(name) && !wholes.contains(name) && !fractions.contains(name) }

    /// Returns whether the file declares the name as a `Double`, and never as an integer.
    func isFraction(_ name: String) -> Bool { fractions.contains(name) && !wholes.contains(name) }

    /// - Parameter open: The position of a type's bracket.
    private static func isDictionary(_ tokens: [SourceToken], _ open: Int) -> Bool {
        var depth = 0
        for token in tokens[open...] where token.kind == .sign {
            if "[(<".contains(token.text) { depth += 1 }
            if "])>".contains(token.text) { depth -= 1 }
            if depth == 0 { return false }
            if depth == 1, token.text == ":" { return true }
        }
        return false
    }
}
