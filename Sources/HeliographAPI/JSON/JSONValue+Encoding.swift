extension JSONValue {
    /// Encodes a value with all its fields in the order of their declaration, and `null` for those that are `nil`.
    ///
    /// Members of dictionaries are sorted. Integers beyond 2^63 saturate.
    package init(encoding value: some Encodable) throws {
        let node = JSONNode()
        try value.encode(to: NodeEncoder(node: node))
        self = node.value(isSorted: value is any StringKeyed)
    }
}

/// Dictionaries that become JSON objects. Their order has no meaning.
private protocol StringKeyed {}

extension Dictionary: StringKeyed where Key == String {}

/// A value that is being encoded. Containers add to it.
private final class JSONNode {
    /// A part of a value. Numbers, strings and the like, most of a report, need no node of their own.
    enum Part {
        case value(JSONValue)
        case node(JSONNode)

        var value: JSONValue {
            switch self {
            case .value(let value): value
            case .node(let node): node.value(isSorted: false)
            }
        }
    }

    /// The contents of a node.
    private enum Content {
        case value(JSONValue)
        case members([(name: String, part: Part)])
        case elements([Part])
    }

    private var content = Content.value(.null)

    func becomeObject() { if case .members = content {} else { content = .members([]) } }

    func becomeArray() { if case .elements = content {} else { content = .elements([]) } }

    func become(_ value: JSONValue) { content = .value(value) }

    func append(_ part: Part, named name: String) {
        guard case .members(var members) = content else { return }
        content = .members([])
        members.append((name, part))
        content = .members(members)
    }

    func append(_ part: Part) {
        guard case .elements(var elements) = content else { return }
        content = .elements([])
        elements.append(part)
        content = .elements(elements)
    }

    var count: Int {
        if case .elements(let elements) = content { elements.count } else { 0 }
    }

    /// Returns the finished value. If `isSorted`, an object's members are sorted by name.
    func value(isSorted: Bool) -> JSONValue {
        switch content {
        case .value(let value): return value
        case .elements(let parts): return .array(parts.map(\.value))
        case .members(let parts):
            let members = parts.map { JSONValue.Member(name: $0.name, value: $0.part.value) }
            return .object(isSorted ? members.sorted { $0.name < $1.name } : members)
        }
    }

    /// Encodes a value of any type. Types that containers handle themselves only get here inside other values.
    static func encoding(_ value: some Encodable) throws -> Part {
        switch value {
        case let value as Double: .value(.number(value))
        case let value as UInt64: .value(JSONValue(value))
        case let value as String: .value(.string(value))
        case let value as Bool: .value(.bool(value))
        case let value as JSONValue: .value(value)
        case let value as Float: .value(.number(Double(value)))
        case let value as any BinaryInteger: .value(JSONValue(value))
        default: .value(try JSONValue(encoding: value))
        }
    }
}

private struct NodeEncoder: Encoder {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(MemberContainer<Key>(node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return ElementContainer(node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { ValueContainer(node: node) }
}

private struct MemberContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }

    private func put(_ value: JSONValue, _ key: Key) { node.append(.value(value), named: key.stringValue) }

    func encodeNil(forKey key: Key) { put(.null, key) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        node.append(try JSONNode.encoding(value), named: key.stringValue)
    }

    // These types make up most of a report, so they skip the search for the type.
    func encode(_ value: Bool, forKey key: Key) { put(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { put(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) { put(.number(value), key) }
    func encode(_ value: Int, forKey key: Key) { put(JSONValue(value), key) }
    func encode(_ value: UInt64, forKey key: Key) { put(JSONValue(value), key) }

    // The standard library's versions of these leave out `nil`.
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) { put(value.map { .bool($0) } ?? .null, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { put(JSONValue(value.map(Double.init)), key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { put(JSONValue(value), key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { put(JSONValue(value), key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key.stringValue).container(keyedBy: keyedBy)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nested("super") }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key.stringValue) }

    private func nested(_ name: String) -> NodeEncoder {
        let part = JSONNode()
        node.append(.node(part), named: name)
        return NodeEncoder(node: part)
    }
}

private struct ElementContainer: UnkeyedEncodingContainer {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }
    var count: Int { node.count }

    func encodeNil() { node.append(.value(.null)) }
    func encode(_ value: some Encodable) throws { node.append(try JSONNode.encoding(value)) }
    func encode(_ value: Double) { node.append(.value(.number(value))) }
    func encode(_ value: UInt64) { node.append(.value(JSONValue(value))) }

    func nestedContainer<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
        superEncoder().container(keyedBy: keyedBy)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }

    func superEncoder() -> any Encoder {
        let part = JSONNode()
        node.append(.node(part))
        return NodeEncoder(node: part)
    }
}

private struct ValueContainer: SingleValueEncodingContainer {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { node.become(.null) }
    func encode(_ value: some Encodable) throws { node.become(try JSONNode.encoding(value).value) }
}
