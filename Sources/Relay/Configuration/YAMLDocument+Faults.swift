import Yams

extension YAMLDocument {
    /// A position in the file, counted from 1; columns count Unicode scalars.
    struct Mark: Comparable {
        var line: Int
        var column: Int

        static func < (left: Mark, right: Mark) -> Bool { (left.line, left.column) < (right.line, right.column) }
    }

    /// An error in a document, with its position.
    struct Fault: Error {
        var mark: Mark
        var statement: String
    }
}

extension YAMLDocument.Mark {
    /// Creates the position after `text`, which begins the file.
    init(endOf text: Substring) {
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        self.init(line: lines.count, column: lines[lines.count - 1].count + 1)
    }

    init(_ mark: Yams.Mark?) { self.init(line: mark?.line ?? 1, column: mark?.column ?? 1) }
}

extension YAMLDocument.Fault {
    init(_ error: YamlError, in text: String) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let context = context.map { " \($0.text)," } ?? ""
            self.init(mark: .init(mark), statement: "this is not YAML:\(context) \(problem)")
        case .duplicatedKeysInMapping(let names, let context):
            let names = names.joined(separator: ", ")
            self.init(mark: .init(context.mark), statement: "\(names) is given again further down; allowed: once")
        case .reader(let problem, let offset, _, _):
            self.init(mark: .init(endOf: text.prefix(offset ?? 0)), statement: "this is not YAML: \(problem)")
        case .memory:
            self.init(mark: .init(line: 1, column: 1), statement: "values are nested too deeply")
        default:
            self.init(mark: .init(line: 1, column: 1), statement: "this is not YAML: \(error)")
        }
    }
}

extension YAMLDocument.Fault {
    /// Finds the first alias in `text`: `*name` with an anchor `&name`. Returns `nil` if there is none.
    ///
    /// It searches before the document is parsed, because the parser expands aliases and then compares the names of
    /// fields. A few lines of aliases of aliases as a name would keep it busy for years. A string that looks like an
    /// alias counts as one only if another looks like its anchor.
    init?(firstAliasIn text: String) {
        let anchors = Set(Self.words(after: UInt8(ascii: "&"), in: text).map(\.name))
        guard let alias = Self.words(after: UInt8(ascii: "*"), in: text).first(where: { anchors.contains($0.name) })
        else { return nil }
        let statement = "aliases are not supported: write the value where it belongs"
        self.init(mark: .init(endOf: text[..<alias.place]), statement: statement)
    }

    /// Returns the words after `sign`, made of the letters that the parser allows in an anchor's name, and the sign's
    /// positions.
    private static func words(after sign: UInt8, in text: String) -> [(name: Substring, place: String.Index)] {
        let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-".utf8)
        return text.utf8.indices.filter { text.utf8[$0] == sign }.compactMap { place in
            let name = text.utf8[place...].dropFirst().prefix { letters.contains($0) }
            return name.isEmpty ? nil : (Substring(name), place)
        }
    }
}
