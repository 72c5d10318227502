import HeliographAPI
import Yams

/// A YAML document as JSON's values, and where in the file each field stands.
///
/// YAML is read as its core schema has it (YAML 1.2.2, section 10.3), numbers in decimal only: `yes`, `1:30` and dates are strings. Anchors,
/// aliases and tags are refused: a document means what stands at its place.
struct YAMLDocument {
    /// How many objects and arrays deep fields are looked at. No setting lies deeper, and a file of nothing but depth costs nothing.
    private static let depth = 8

    private(set) var root = JSONValue.null
    /// Of each field, by its path, its name's and its value's place. The document's own path is empty.
    private var marks: [[String]: (name: Mark, value: Mark)] = [:]
    /// What cannot be read as JSON's values.
    private(set) var faults: [Fault] = []

    /// - Throws: ``Fault`` where it is no YAML.
    init(parsing text: String) throws(Fault) {
        if let fault = Fault(firstAliasIn: text) { throw fault }
        do {
            // The parser keeps the anchors that its nodes refer to, so it has to live as long as they are looked at.
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

    /// Where an issue is to be mended: at the field's value; at its name when that is what is wrong; at the object that lacks it.
    func mark(of issue: FieldIssue) -> Mark {
        let field = marks[issue.path]
        let place = issue.kind == .unknown ? field?.name : field?.value
        return place ?? marks[issue.path.dropLast()]?.value ?? Mark(line: 1, column: 1)
    }

    /// Where the value of the field at `path` stands.
    func mark(of path: [String]) -> Mark? { marks[path]?.value }

    // MARK: Nodes

    /// nil for what was refused.
    private mutating func value(of node: Node, path: [String]) -> JSONValue? {
        guard node.anchor == nil else {
            return refuse(node, "anchors are not read: write the value where it belongs")
        }
        switch node {
        case .scalar(let scalar) where scalar.tag == .implicit && scalar.style == .plain:
            return Self.plain(scalar.string)
        // The parser gives what is quoted this tag.
        case .scalar(let scalar) where scalar.tag == Tag(.str): return .string(scalar.string)
        case .mapping(let mapping) where mapping.tag == .implicit: return object(mapping, path: path)
        case .sequence(let sequence) where sequence.tag == .implicit: return array(sequence, path: path)
        case .scalar, .mapping, .sequence, .alias: return refuse(node, "tags are not read: write the value without one")
        }
    }

    private mutating func object(_ mapping: Node.Mapping, path: [String]) -> JSONValue {
        var members: [JSONValue.Member] = []
        guard path.count < Self.depth else { return .object([]) }
        for (key, node) in mapping {
            guard case .scalar(let name) = key, key.anchor == nil else {
                _ = refuse(key, "the name of a field is a word")
                continue
            }
            let field = path + [name.string]
            // The parser knows the same word twice, and not that a quoted word is the same.
            guard marks[field] == nil else {
                _ = refuse(key, "\(field.joined(separator: ".")) stands here for the second time; allowed: once")
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
