extension JSONValue {
    /// Encodes a value with all its fields in the order of their declaration, `null` for those that are nil.
    ///
    /// Members of dictionaries are sorted. Integers beyond 2^63 saturate.
    package init(encoding value: some Encodable) throws {
        let node = JSONNode()
        try value.encode(to: NodeEncoder(node: node))
        self = node.value(isSorted: value is any StringKeyed)
    }
}

/// Dictionaries that are objects in JSON. Their order means nothing.
private protocol StringKeyed {}

extension Dictionary: StringKeyed where Key == String {}

/// A value that is being encoded: containers add to it.
private final class JSONNode {
    private enum Content {
        case value(JSONValue)
        case members([(name: String, node: JSONNode)])
        case elements([JSONNode])
    }

    private var content: Content

    init(_ value: JSONValue = .null) { content = .value(value) }

    func becomeObject() { if case .members = content {} else { content = .members([]) } }

    func becomeArray() { if case .elements = content {} else { content = .elements([]) } }

    func become(_ value: JSONValue) { content = .value(value) }

    func append(_ node: JSONNode, named name: String) {
        guard case .members(var members) = content else { return }
        content = .members([])
        members.append((name, node))
        content = .members(members)
    }

    func append(_ node: JSONNode) {
        guard case .elements(var elements) = content else { return }
        content = .elements([])
        elements.append(node)
        content = .elements(elements)
    }

    var count: Int {
        if case .elements(let elements) = content { elements.count } else { 0 }
    }

    func value(isSorted: Bool) -> JSONValue {
        switch content {
        case .value(let value): return value
        case .elements(let nodes): return .array(nodes.map { $0.value(isSorted: false) })
        case .members(let nodes):
            let members = nodes.map { JSONValue.Member(name: $0.name, value: $0.node.value(isSorted: false)) }
            return .object(isSorted ? members.sorted { $0.name < $1.name } : members)
        }
    }

    /// The node of a value of any type. Numbers, strings and booleans need no container.
    static func encoding(_ value: some Encodable) throws -> JSONNode {
        switch value {
        case let value as JSONValue: JSONNode(value)
        case let value as String: JSONNode(.string(value))
        case let value as Bool: JSONNode(.bool(value))
        case let value as Double: JSONNode(.number(value))
        case let value as Float: JSONNode(.number(Double(value)))
        case let value as any BinaryInteger: JSONNode(JSONValue(value))
        default: JSONNode(try JSONValue(encoding: value))
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

    func encodeNil(forKey key: Key) { node.append(JSONNode(), named: key.stringValue) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        node.append(try .encoding(value), named: key.stringValue)
    }

    private func encodeOptional(_ value: (some Encodable)?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) } else { encodeNil(forKey: key) }
    }

    // The standard library's own versions of these leave nil out.
    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encodeOptional(value, forKey: key) }

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
        node.append(part, named: name)
        return NodeEncoder(node: part)
    }
}

private struct ElementContainer: UnkeyedEncodingContainer {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }
    var count: Int { node.count }

    func encodeNil() { node.append(JSONNode()) }
    func encode(_ value: some Encodable) throws { node.append(try .encoding(value)) }

    func nestedContainer<Key: CodingKey>(keyedBy: Key.Type) -> KeyedEncodingContainer<Key> {
        superEncoder().container(keyedBy: keyedBy)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { superEncoder().unkeyedContainer() }

    func superEncoder() -> any Encoder {
        let part = JSONNode()
        node.append(part)
        return NodeEncoder(node: part)
    }
}

private struct ValueContainer: SingleValueEncodingContainer {
    let node: JSONNode
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { node.become(.null) }
    func encode(_ value: some Encodable) throws { node.become(try JSONNode.encoding(value).value(isSorted: false)) }
}
