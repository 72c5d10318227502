import Yams

extension YAMLDocument {
    /// A place in the file, counted from 1; columns in Unicode scalars.
    struct Mark: Comparable {
        var line: Int
        var column: Int

        static func < (left: Mark, right: Mark) -> Bool { (left.line, left.column) < (right.line, right.column) }
    }

    struct Fault: Error {
        var mark: Mark
        var statement: String
    }
}

extension YAMLDocument.Mark {
    /// The place behind `text`, which begins the file.
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
            self.init(mark: .init(mark), statement: "this is no YAML:\(context) \(problem)")
        case .duplicatedKeysInMapping(let names, let context):
            let names = names.joined(separator: ", ")
            self.init(mark: .init(context.mark), statement: "\(names) stands again further down; allowed: once")
        case .reader(let problem, let offset, _, _):
            self.init(mark: .init(endOf: text.prefix(offset ?? 0)), statement: "this is no YAML: \(problem)")
        case .memory:
            self.init(mark: .init(line: 1, column: 1), statement: "values are nested too deeply")
        default:
            self.init(mark: .init(line: 1, column: 1), statement: "this is no YAML: \(error)")
        }
    }
}

extension YAMLDocument.Fault {
    /// The first alias in `text`, `*name` with an anchor `&name`, nil when there is none.
    ///
    /// It is looked for before the document is parsed, because the parser puts the anchor's value in the alias' place and then compares
    /// the names of fields: a few lines of aliases of aliases as a name would keep it busy for years. A string that looks like an
    /// alias is taken for one only when another looks like its anchor.
    init?(firstAliasIn text: String) {
        let anchors = Set(Self.words(after: UInt8(ascii: "&"), in: text).map(\.name))
        guard let alias = Self.words(after: UInt8(ascii: "*"), in: text).first(where: { anchors.contains($0.name) })
        else { return nil }
        let statement = "aliases are not read: write the value where it belongs"
        self.init(mark: .init(endOf: text[..<alias.place]), statement: statement)
    }

    /// The words that begin behind `sign`, in the letters that the parser takes for an anchor's name, and where the sign stands.
    private static func words(after sign: UInt8, in text: String) -> [(name: Substring, place: String.Index)] {
        let letters = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-".utf8)
        return text.utf8.indices.filter { text.utf8[$0] == sign }.compactMap { place in
            let name = text.utf8[place...].dropFirst().prefix { letters.contains($0) }
            return name.isEmpty ? nil : (Substring(name), place)
        }
    }
}
