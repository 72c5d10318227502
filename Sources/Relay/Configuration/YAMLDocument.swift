import HeliographAPI
import Yams

/// A YAML document as JSON values, with the position of each field in the file.
///
/// Values follow YAML's core schema (YAML 1.2.2, section 10.3), with decimal numbers only: `yes`, `1:30` and dates are
/// strings. Anchors, aliases and tags are rejected, so that each value is written where it applies.
struct YAMLDocument {
    /// How many levels of objects and arrays are read. No setting lies deeper, and a deeply nested file costs nothing.
    private static let depth = 8

    private(set) var root = JSONValue.null
    /// The positions of each field's name and value, by its path. The document's own path is empty.
    private var marks: [[String]: (name: Mark, value: Mark)] = [:]
    /// The parts that cannot be read as JSON values.
    private(set) var faults: [Fault] = []

    /// Parses a document.
    ///
    /// - Throws: ``Fault`` if it is not YAML.
    init(parsing text: String) throws(Fault) {
        if let fault = Fault(firstAliasIn: text) { throw fault }
        do {
            // The parser owns the anchors that its nodes refer to, so it must outlive their use.
            let parser = try Parser(yaml: text)
            let node = try parser.singleRoot()
            withExtendedLifetime(parser) {
                guard let node else { return }
                marks[[]] = (Mark(node.mark), Mark(node.mark))
                root = value(of: node, path: []) ?? .null
            }
        } catch let error as YamlError {
            throw Fault(error, in: text)
        } catch {
            throw Fault(mark: Mark(line: 1, column: 1), statement: "\(error)")
        }
    }

    /// Returns where to fix an issue: at the field's value, at its name if that is wrong, or at the object that lacks
    /// it.
    func mark(of issue: FieldIssue) -> Mark {
        let field = marks[issue.path]
        let place = issue.kind == .unknown ? field?.name : field?.value
        return place ?? marks[issue.path.dropLast()]?.value ?? Mark(line: 1, column: 1)
    }

    /// Returns the position of the value of the field at `path`.
    func mark(of path: [String]) -> Mark? { marks[path]?.value }

    // MARK: Nodes

    /// Converts a node. Returns `nil` if it is rejected.
    private mutating func value(of node: Node, path: [String]) -> JSONValue? {
        guard node.anchor == nil else {
            return refuse(node, "anchors are not supported: write the value where it belongs")
        }
        switch node {
        case .scalar(let scalar) where scalar.tag == .implicit && scalar.style == .plain:
            return Self.plain(scalar.string)
        // The parser gives quoted scalars this tag.
        case .scalar(let scalar) where scalar.tag == Tag(.str): return .string(scalar.string)
        case .mapping(let mapping) where mapping.tag == .implicit: return object(mapping, path: path)
        case .sequence(let sequence) where sequence.tag == .implicit: return array(sequence, path: path)
        case .scalar, .mapping, .sequence, .alias:
            return refuse(node, "tags are not supported: write the value without one")
        }
    }

    private mutating func object(_ mapping: Node.Mapping, path: [String]) -> JSONValue {
        var members: [JSONValue.Member] = []
        guard path.count < Self.depth else { return .object([]) }
        for (key, node) in mapping {
            guard case .scalar(let name) = key, key.anchor == nil else {
                _ = refuse(key, "the name of a field must be a word")
                continue
            }
            let field = path + [name.string]
            // The parser detects a repeated word, but not that a quoted word is the same as an unquoted one.
            guard marks[field] == nil else {
                _ = refuse(key, "\(field.joined(separator: ".")) is given here for the second time; allowed: once")
                continue
            }
            marks[field] = (Mark(key.mark), Mark(node.mark))
            guard let value = value(of: node, path: field) else { continue }
            members.append(.init(name: name.string, value: value))
        }
        return .object(members)
    }

    private mutating func array(_ sequence: Node.Sequence, path: [String]) -> JSONValue {
        guard path.count < Self.depth else { return .array([]) }
        return .array(
            sequence.enumerated().compactMap { number, node in value(of: node, path: path + [String(number)]) }
        )
    }

    private mutating func refuse(_ node: Node, _ statement: String) -> JSONValue? {
        faults.append(Fault(mark: Mark(node.mark), statement: statement))
        return nil
    }

    private static func plain(_ text: String) -> JSONValue {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        if let integer = Int(text) { return .integer(integer) }
        let isNumber = text.utf8.allSatisfy { "0123456789+-.eE".utf8.contains($0) }
        if isNumber, let number = Double(text) { return .number(number) }
        return .string(text)
    }
}
