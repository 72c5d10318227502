import CSystemd
import Glibc

/// A D-Bus message: arguments are appended to it, or read from it in order.
///
/// Type strings follow the D-Bus specification ("Type System"): `s` string, `u` 32-bit unsigned, `i` 32-bit signed, `d`
/// double, `a{sv}` dictionary of variants.
final class BusMessage {
    private let handle: OpaquePointer

    init(adopting handle: OpaquePointer) {
        self.handle = handle
    }

    init(retaining handle: OpaquePointer) {
        self.handle = sd_bus_message_ref(handle)
    }

    deinit {
        sd_bus_message_unref(handle)
    }

    // MARK: - Building

    func append(_ string: String) throws(BusError) {
        try check(string.withCString { sd_bus_message_append_basic(handle, CChar(ascii: "s"), $0) }, "string")
    }

    func append(objectPath: String) throws(BusError) {
        try check(objectPath.withCString { sd_bus_message_append_basic(handle, CChar(ascii: "o"), $0) }, "object path")
    }

    func append(_ value: UInt32) throws(BusError) {
        var value = value
        try check(sd_bus_message_append_basic(handle, CChar(ascii: "u"), &value), "unsigned")
    }

    func append(signed value: Int32) throws(BusError) {
        var value = value
        try check(sd_bus_message_append_basic(handle, CChar(ascii: "i"), &value), "integer")
    }

    func append(_ value: Double) throws(BusError) {
        var value = value
        try check(sd_bus_message_append_basic(handle, CChar(ascii: "d"), &value), "number")
    }

    func append(_ value: Bool) throws(BusError) {
        // sd-bus expects a boolean as a C int.
        var value: Int32 = value ? 1 : 0
        try check(sd_bus_message_append_basic(handle, CChar(ascii: "b"), &value), "boolean")
    }

    /// Appends an `a{sv}` dictionary.
    func append(_ options: [(key: String, value: BusValue)]) throws(BusError) {
        try container("a", "{sv}") { () throws(BusError) in
            for option in options {
                try container("e", "sv") { () throws(BusError) in
                    try append(option.key)
                    try append(variant: option.value)
                }
            }
        }
    }

    private func append(variant: BusValue) throws(BusError) {
        switch variant {
        case .string(let value): try container("v", "s") { () throws(BusError) in try append(value) }
        case .unsigned(let value): try container("v", "u") { () throws(BusError) in try append(value) }
        case .boolean(let value): try container("v", "b") { () throws(BusError) in try append(value) }
        case .strings(let values):
            try container("v", "as") { () throws(BusError) in
                try container("a", "s") { () throws(BusError) in
                    for value in values { try append(value) }
                }
            }
        }
    }

    private func container(
        _ type: Unicode.Scalar,
        _ contents: String,
        _ body: () throws(BusError) -> Void
    ) throws(BusError) {
        try check(sd_bus_message_open_container(handle, CChar(ascii: type), contents), "container \(type)")
        try body()
        try check(sd_bus_message_close_container(handle), "container \(type)")
    }

    // MARK: - Reading

    func readString() throws(BusError) -> String { try readText("s") }

    func readObjectPath() throws(BusError) -> String { try readText("o") }

    func readUnsigned() throws(BusError) -> UInt32 {
        var value: UInt32 = 0
        try check(sd_bus_message_read_basic(handle, CChar(ascii: "u"), &value), "unsigned")
        return value
    }

    func readSigned() throws(BusError) -> Int32 {
        var value: Int32 = 0
        try check(sd_bus_message_read_basic(handle, CChar(ascii: "i"), &value), "integer")
        return value
    }

    func readBoolean() throws(BusError) -> Bool {
        var value: Int32 = 0
        try check(sd_bus_message_read_basic(handle, CChar(ascii: "b"), &value), "boolean")
        return value != 0
    }

    /// Reads a descriptor. The caller owns it and must close it.
    func readDescriptor() throws(BusError) -> Int32 {
        var value: Int32 = -1
        try check(sd_bus_message_read_basic(handle, CChar(ascii: "h"), &value), "descriptor")
        // Duplicated because the message closes its own descriptors when it is freed.
        let own = fcntl(value, F_DUPFD_CLOEXEC, 3)
        guard own >= 0 else { throw .malformed("descriptor: \(String(cString: strerror(errno)))") }
        return own
    }

    /// Reads an `a{sv}` dictionary and calls `body` with each key. `body` may read the variant or ignore it.
    func readOptions(_ body: (String) throws(BusError) -> Void) throws(BusError) {
        try readArray("{sv}") { () throws(BusError) in
            try enter("e", "sv") { () throws(BusError) in
                let key = try readString()
                try body(key)
            }
        }
    }

    /// Reads an array and calls `body` for each element of type `contents`.
    func readArray(_ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        try enter("a", contents) { () throws(BusError) in
            while sd_bus_message_at_end(handle, 0) == 0 { try body() }
        }
    }

    /// Reads a variant of type `contents`.
    func readVariant<Value>(
        _ contents: String,
        _ body: (BusMessage) throws(BusError) -> Value
    ) throws(BusError) -> Value {
        try enter("v", contents) { () throws(BusError) in try body(self) }
    }

    /// Reads a struct of type `contents`. Fields that `body` does not read are skipped.
    func readStruct(_ contents: String, _ body: () throws(BusError) -> Void) throws(BusError) {
        try enter("r", contents, body)
    }

    private func enter<Value>(
        _ type: Unicode.Scalar,
        _ contents: String,
        _ body: () throws(BusError) -> Value
    ) throws(BusError) -> Value {
        let entered = sd_bus_message_enter_container(handle, CChar(ascii: type), contents)
        guard entered > 0 else { throw .malformed("no \(type) of \(contents) where one is expected") }
        let value = try body()
        while sd_bus_message_at_end(handle, 0) == 0 { try check(sd_bus_message_skip(handle, nil), "skipping") }
        try check(sd_bus_message_exit_container(handle), "end of \(contents)")
        return value
    }

    private func readText(_ type: Unicode.Scalar) throws(BusError) -> String {
        var text: UnsafePointer<CChar>?
        try check(sd_bus_message_read_basic(handle, CChar(ascii: type), &text), "text")
        return text.map { String(cString: $0) } ?? ""
    }

    private func check(_ result: Int32, _ what: String) throws(BusError) {
        if result < 0 { throw .malformed("\(what): \(String(cString: strerror(-result)))") }
    }
}

/// A value in an options dictionary.
enum BusValue {
    case string(String)
    case unsigned(UInt32)
    case boolean(Bool)
    case strings([String])
}

extension CChar {
    fileprivate init(ascii scalar: Unicode.Scalar) { self = CChar(truncatingIfNeeded: scalar.value) }
}
